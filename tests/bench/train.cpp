#include <memory>

#include "tests/bench/groups.h"
#include "tests/bench/training_job.h"

namespace ddprun::bench {
namespace {

constexpr const char* kPython = "Python's DDP";
constexpr const char* kAlone = "two processes alone";
constexpr const char* kAfterwards = "averaged after the backward pass";

struct Model {
  const char* name;
  const char* title;
  int steps;  // of a turn, which then takes about a quarter of a second
  Goal step_goal;
  Goal memory_goal;
  Goal shared_goal;  // of a step with InitOptions::shared_memory
  // Against two processes that train without each other; and with shared memory.
  Goal scaling_goal, shared_scaling_goal;
  int most_rounds;
};

const Model kModels[] = {{.name = "perceptron",
                          .title = "perceptron",
                          .steps = 100,
                          .step_goal = ratio_at_most(0.75),
                          .shared_goal = ratio_at_most(0.27),
                          .shared_scaling_goal = ratio_at_most(1 / 0.9),
                          .most_rounds = 1000},
                         {.name = "lenet",
                          .title = "LeNet",
                          .steps = 30,
                          .step_goal = ratio_at_most(0.8),
                          .memory_goal = ratio_at_most(0.25),
                          .shared_goal = ratio_at_most(0.66),
                          .scaling_goal = ratio_at_most(1 / 0.88),
                          .shared_scaling_goal = ratio_at_most(1 / 0.95),
                          .most_rounds = 1000},
                         {.name = "resnet18",
                          .title = "ResNet-18",
                          .steps = 1,
                          .step_goal = ratio_no_slower(1.03),
                          .scaling_goal = ratio_at_most(1 / 0.95),
                          .most_rounds = 12}};

Words sdk_words(const Setup& setup) {
  return ddprun_words(setup, 2) + Words{setup.train_worker};
}

Words sdk_words(const Setup& setup, const char* option) {
  return sdk_words(setup) + Words{option};
}

Words python_words(const Setup& setup) {
  return ddprun_words(setup, 2) + Words{setup.python, setup.train_script};
}

Words torchrun_script_words(const Setup& setup) {
  Words words = torchrun_words(setup, 2);
  words.back() = setup.train_script;  // in place of --no-python
  return words;
}

std::string step_row(const Model& model, const std::string& who) {
  return std::string(model.title) + ", step: " + who;
}

std::string memory_row(const Model& model, const std::string& who) {
  return std::string(model.title) + ", peak memory of a rank: " + who;
}

// The job starts with the first turn and lives as long as the probe, so that both jobs are there
// all the time and only one of them computes.
std::function<std::vector<double>()> turns_of(const Words& command, const Model& model) {
  return [command, model, job = std::make_shared<std::unique_ptr<TrainingJob>>()] {
    if (!*job) {
      *job = std::make_unique<TrainingJob>(command, model.name);
      (*job)->turn(model.steps);  // the allocator and oneDNN have seen everything then
    }
    const TrainingJob::Turn turn = (*job)->turn(model.steps);
    return std::vector{turn.milliseconds, turn.peak_megabytes};
  };
}

// A step of ours that is compared with nothing.
Probe other_steps(const Setup& setup, const Model& model, const char* who, const char* option) {
  return {{{step_row(model, who), "ms"}, {memory_row(model, who), "MB"}},
          turns_of(sdk_words(setup, option), model),
          model.most_rounds,
          no_worker_sdk(setup)};
}

// A step with the worker SDK, against Python's, against two processes by themselves and against
// one in which nothing overlaps, which is the same figure thrice.
Probe sdk_steps(const Setup& setup, const Model& model, const Words& command,
                const std::string& who, Goal goal, Goal scaling_goal) {
  const std::string step = step_row(model, who);
  return {{{step, "ms", goal, step_row(model, kPython)},
           {step + ", against two alone", "ms", scaling_goal, step_row(model, kAlone)},
           {step + ", against averaging afterwards", "ms", {}, step_row(model, kAfterwards)},
           {memory_row(model, who), "MB", model.memory_goal, memory_row(model, kPython)}},
          [turns = turns_of(command, model)] {
            const auto figures = turns();
            return std::vector{figures[0], figures[0], figures[0], figures[1]};
          },
          model.most_rounds,
          no_worker_sdk(setup)};
}

// What `keep_freed_memory` brings: against a step with it.
Probe without_kept_memory(const Setup& setup, const Model& model) {
  return {{{step_row(model, "ddp, keep_freed_memory = false"), "ms", {}, step_row(model, "ddp")}},
          [turns = turns_of(sdk_words(setup, "--return-memory"), model)] {
            return std::vector{turns()[0]};
          },
          model.most_rounds,
          no_worker_sdk(setup)};
}

Block steps(const Setup& setup, const Model& model) {
  Probe python{{{step_row(model, kPython), "ms"}, {memory_row(model, kPython), "MB"}},
               turns_of(python_words(setup), model),
               model.most_rounds,
               no_torchrun(setup)};
  return {"train",
          {std::move(python), other_steps(setup, model, kAlone, "--alone"),
           other_steps(setup, model, kAfterwards, "--afterwards"),
           sdk_steps(setup, model, sdk_words(setup), "ddp", model.step_goal, model.scaling_goal),
           sdk_steps(setup, model, sdk_words(setup, "--shared-memory"), "ddp, shared memory",
                     model.shared_goal, model.shared_scaling_goal),
           without_kept_memory(setup, model)}};
}

Probe first_step(std::vector<Row> rows, const Words& command, int most_rounds,
                 const std::string& missing) {
  const std::size_t count = rows.size();
  return {std::move(rows),
          [command, count] {
            return std::vector(count, TrainingJob(command, "lenet").milliseconds_to_first_step());
          },
          most_rounds, missing};
}

Block start(const Setup& setup) {
  const std::string torchrun = "LeNet, start to first step: torchrun and Python",
                    python = "LeNet, start to first step: Python alone",
                    sdk = "LeNet, start to first step: ddprun and ddp";
  return {"train",
          {first_step({{torchrun, "ms"}}, torchrun_script_words(setup), 7, no_torchrun(setup)),
           first_step({{python, "ms"}}, python_words(setup), 7, no_torchrun(setup)),
           first_step({{sdk, "ms", ratio_at_most(0.08), torchrun},
                       {sdk + ", against Python alone", "ms", ratio_at_most(0.2), python}},
                      sdk_words(setup), 1000, no_worker_sdk(setup))}};
}

}  // namespace

std::vector<Block> train_group(const Setup& setup) {
  std::vector<Block> blocks;
  for (const Model& model : kModels)
    if (static_cast<int>(blocks.size()) < setup.most_models) blocks.push_back(steps(setup, model));
  blocks.push_back(start(setup));
  return blocks;
}

}  // namespace ddprun::bench
