#!/bin/bash
# What somebody tries who has just installed libddp-dev: in /tmp are the packages, LibTorch and a small project.
set -euo pipefail
cd /tmp
dpkg --install ./*.deb >dpkg.log 2>&1 || { cat dpkg.log && exit 1; }
bash smoke.sh
cmake -S consumer -B consumer-build -G Ninja -DCONSUMER_COMPONENTS=worker_sdk -DTorch_ROOT=/tmp/torch >cmake.log ||
  { cat cmake.log && exit 1; }
cmake --build consumer-build >build.log || { cat build.log && exit 1; }
ddprun -n 2 --device cpu consumer-build/train
