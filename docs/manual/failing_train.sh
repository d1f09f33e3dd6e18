#!/bin/sh
# Stands for a training that meets a bad line in its data: the picture of a failure report is taken of it.
echo "epoch 1, loss 2.31$LOCAL_RANK"
sleep 0.2
[ "$RANK" != 2 ] || {
  echo "train: data.csv: line 1,042 has 7 columns, expected 8" >&2
  exit 3
}
sleep 60
