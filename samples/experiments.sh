#!/usr/bin/env bash
# Repeats every experiment of docs/experiments.md:
#   samples/experiments.sh [--resnet-images N] [--data DIR | --digits FILE]
# The programs are those of build/bin/samples, or of the folder in SAMPLES. On GPUs some minutes; on CPU cores
# ResNet-18 takes an hour with all images of the digits, and about eight minutes with --resnet-images 320.
set -euo pipefail
resnet=()
if [[ ${1:-} == --resnet-images ]]; then
  [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || { echo "--resnet-images needs a number, not '${2:-}'" >&2; exit 2; }
  resnet=(--images "$2")
  shift 2
fi
samples=${SAMPLES:-$(dirname "${BASH_SOURCE[0]}")/../build/bin/samples}

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

for program in data_parallel_from_scratch data_parallel_concise dp_versus_ddp; do
  [[ -x $samples/$program ]] || { echo "$samples/$program is not there; './dev build' makes it" >&2; exit 1; }
done
for scaling in fixed linear; do
  show "$samples/data_parallel_from_scratch" --scaling "$scaling" "$@"
done
for scaling in fixed linear; do
  show "$samples/data_parallel_concise" --scaling "$scaling" ${resnet[@]+"${resnet[@]}"} "$@"
done
# A core for each worker, as the original had a GPU for each.
show env OMP_NUM_THREADS=1 "$samples/data_parallel_concise" --scaling linear ${resnet[@]+"${resnet[@]}"} "$@"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
show "$samples/dp_versus_ddp" --save "$folder/model.pt"
