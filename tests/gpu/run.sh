#!/usr/bin/env bash
# Checks on a machine with one GPU what cannot be checked without: which device a worker gets, two NCCL ranks, DDP on
# CUDA against the CPU, a clean end, and the launcher's refusal to start more workers than the driver has GPUs. Prints a
# table. Two ranks on one GPU show that it works, and nothing about speed.
#
#   tests/gpu/run.sh [--torch-root FOLDER] [--prebuilt FOLDER] [--on-cpu]
#
#   --torch-root  LibTorch, with CUDA and all libraries it needs (a wheel installed with its dependencies); otherwise
#                 the variable Torch_ROOT, else the active Python's torch
#   --prebuilt    do not build; FOLDER is a build folder made elsewhere, with bin/ddprun, lib/libddp.so*,
#                 lib/libddp_nccl.so and tests/gpu_check, by a LibTorch of the same version as the one here
#   --on-cpu      the same steps with Gloo on the CPU, to try this script where there is no GPU
#
# Exit code: 0 all right, 1 something is not, 2 something that it needs is missing, 77 skipped because there is no GPU.
#
# On a fresh machine without network it needs g++ 12, CMake 3.25, Boost 1.81 (Asio, Program_options, JSON) and the
# headers of CUDA and NCCL, or --prebuilt; and LibTorch in both cases. It says what is missing and fetches nothing.
# Building takes 2 to 4 minutes with 16 cores, each check has a limit of 60 seconds, and there are 8 of them.
set -uo pipefail
caller_dir=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2

torch_root=${Torch_ROOT:-}
build='build-gpu'
prebuilt=
device=cuda
rows=()
failures=0
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT

missing() {
  printf 'tests/gpu/run.sh: %s\n' "$@" >&2
  exit 2
}

# A folder that the caller named, seen from there.
folder() { (cd "$caller_dir" && realpath -m -- "$1"); }

while (($#)); do
  case $1 in
    --torch-root | --prebuilt)
      [[ -n ${2:-} ]] || missing "$1 needs a folder"
      if [[ $1 == --prebuilt ]]; then prebuilt=yes build=$(folder "$2"); else torch_root=$(folder "$2"); fi
      shift
      ;;
    --on-cpu) device=cpu ;;
    *) missing "unknown word '$1'; the head of this file says what there is" ;;
  esac
  shift
done

# ---- what is here ----

if [[ $device == cuda ]] && ! compgen -G '/dev/nvidia[0-9]*' >/dev/null && ! nvidia-smi -L &>/dev/null; then
  echo "tests/gpu/run.sh: skipped, there is no GPU here (no /dev/nvidia0, and nvidia-smi lists none); nothing was checked"
  exit 77
fi
if [[ -z $torch_root ]]; then
  torch_root=$(python3 -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])' \
               2>/dev/null) || true
fi
[[ -e $torch_root/lib/libtorch_cpu.so ]] ||
  missing "no LibTorch in '$torch_root': give --torch-root FOLDER, the one with include/ and lib/"
[[ $device == cpu || -e $torch_root/lib/libtorch_cuda.so ]] || missing "the LibTorch in $torch_root has no CUDA"

build_what_is_needed() {
  local tool
  for tool in cmake g++; do
    command -v "$tool" >/dev/null || missing "$tool is missing; install it, or give --prebuilt FOLDER"
  done
  ! command -v ninja >/dev/null || export CMAKE_GENERATOR=Ninja
  cmake -S . -B "$build" -DDDPRUN_TESTS=OFF -DDDPRUN_SDK=ON -DTorch_ROOT="$torch_root" >"$log" 2>&1 ||
    missing "CMake could not configure this build:" "$(grep -A 4 'CMake Error' "$log")"
  [[ $device == cpu ]] || ! grep 'NCCL backend: left out' "$log" ||
    missing "without that backend there is nothing to check"
  local targets=(ddprun gpu_check)
  [[ $device == cpu ]] || targets+=(ddprun_nccl_plugin)
  cmake --build "$build" --parallel "$(nproc)" --target "${targets[@]}" >"$log" 2>&1 ||
    missing "the build failed:" "$(tail -n 30 "$log")"
}

if [[ -z $prebuilt ]]; then
  echo "building in $build"
  build_what_is_needed
fi
ddprun=$build/bin/ddprun
check=$build/tests/gpu_check
needed=("$ddprun" "$check")
[[ $device == cpu ]] || needed+=("$build/lib/libddp_nccl.so")
for file in "${needed[@]}"; do
  [[ -e $file ]] || missing "$file is missing"
done
# What was built elsewhere has another machine's folders in its RUNPATH.
export LD_LIBRARY_PATH=$build/lib:$torch_root/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# ---- checks ----

# row NAME CODE TEXT COMMAND…: runs the command, which must end with CODE within 60 s and print TEXT.
row() {
  local name=$1 code=$2 text=$3 status=0 started=$SECONDS verdict=ok
  shift 3
  timeout --kill-after=5 60 "$@" >"$log" 2>&1 || status=$?
  [[ $status == "$code" ]] && grep -qF -- "$text" "$log" || verdict=FAILED
  # A group that was not ended well says so when the process goes.
  ! grep -qiE 'has NOT been destroyed|watchdog|terminate called' "$log" || verdict=FAILED
  [[ $verdict == ok ]] || failures=$((failures + 1))
  rows+=("$(printf '%-46s %-7s %3d s  %s' "$name" "$verdict" $((SECONDS - started)) "$(grep -F -m 1 -- "$text" "$log" | cut -c1-90)")")
  printf '\n---- %s: exit code %d, expected %d\n' "$name" "$status" "$code"
  head -n 40 "$log"
}

if [[ $device == cuda ]]; then
  gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ') || gpus=$(compgen -G '/dev/nvidia[0-9]*' | wc -l)
  one=(-n 1 --device cuda) two=(-n 2 --device cuda --oversubscribe) more=(-n $((gpus + 1)) --device cuda)
  backend=nccl name="cuda:0" found="$gpus GPU"
else
  one=(-n 1 --device cpu) two=(-n 2 --device cpu) more=(-n 2 --simulate-gpus 1)
  backend=gloo name=cpu found="GPU"
fi
row "a worker's device" 0 "$name" "$ddprun" "${one[@]}" "$check" device "$device"
row "more workers than GPUs are refused" 2 "visible" "$ddprun" "${more[@]}" /bin/true
row "what --doctor says" 0 "$found" "$ddprun" --doctor
row "collectives, 1 rank" 0 "with $backend" "$ddprun" "${one[@]}" "$check" collectives "$device"
row "collectives, 2 ranks on one device" 0 "with $backend" "$ddprun" "${two[@]}" "$check" collectives "$device"
row "DDP equals the CPU, 2 ranks on one device" 0 "DDP against" "$ddprun" "${two[@]}" "$check" ddp "$device"
row "SyncBatchNorm equals the whole batch, 2 ranks" 0 "running var" \
  "$ddprun" "${two[@]}" "$check" sync_batch_norm "$device"
if [[ $device == cuda ]]; then
  TORCH_DIST_USE_NCCL2=0 row "DDP equals the CPU, TORCH_DIST_USE_NCCL2=0" 0 "DDP against" \
    "$ddprun" "${two[@]}" "$check" ddp "$device"
fi

echo
printf '%s\n' "${rows[@]}"
echo
version=$(cat "$torch_root"/include/torch/{headeronly,csrc/api/include/torch}/version.h 2>/dev/null |
  sed -nE 's/.*define TORCH_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)/\2/p' | head -n 3 | paste -sd.)
echo "LibTorch ${version:-of unknown version}, $device: $((${#rows[@]} - failures)) passed, $failures failed"
((failures == 0))
