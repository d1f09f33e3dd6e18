#include <memory>

#include "tests/bench/groups.h"
#include "tests/bench/training_job.h"

namespace ddprun::bench {
namespace {

struct Model {
  const char* name;
  const char* title;
  int steps;  // of a turn, which then takes about a quarter of a second
  Goal step_goal;
  Goal memory_goal;
  int most_rounds;
};

const Model kModels[] = {{"perceptron", "perceptron", 100, ratio_at_most(0.75), {}, 1000},
                         {"lenet", "LeNet", 30, ratio_at_most(0.85), ratio_at_most(0.25), 1000},
                         {"resnet18", "ResNet-18", 1, ratio_no_slower(1.05), {}, 12}};

Words sdk_words(const Setup& setup) {
  return ddprun_words(setup, 2) + Words{setup.train_worker};
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

Block steps(const Setup& setup, const Model& model) {
  const std::string python_step = step_row(model, "Python's DDP"),
                    python_memory = memory_row(model, "Python's DDP");
  Probe python{{{python_step, "ms"}, {python_memory, "MB"}},
               turns_of(python_words(setup), model),
               model.most_rounds,
               no_torchrun(setup)};
  Probe sdk{{{step_row(model, "ddp"), "ms", model.step_goal, python_step},
             {memory_row(model, "ddp"), "MB", model.memory_goal, python_memory}},
            turns_of(sdk_words(setup), model),
            model.most_rounds,
            no_worker_sdk(setup)};
  return {"train", {std::move(python), std::move(sdk)}};
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
           first_step({{sdk, "ms", ratio_at_most(0.1), torchrun},
                       {sdk + ", against Python alone", "ms", ratio_at_most(0.2), python}},
                      sdk_words(setup), 1000, no_worker_sdk(setup))}};
}

}  // namespace

std::vector<Block> train_group(const Setup& setup) {
  std::vector<Block> blocks;
  for (const Model& model : kModels) blocks.push_back(steps(setup, model));
  blocks.push_back(start(setup));
  return blocks;
}

}  // namespace ddprun::bench
