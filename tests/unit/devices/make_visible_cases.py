#!/usr/bin/env python3
"""Prints visible_cases.inc: PyTorch's reading of CUDA_VISIBLE_DEVICES on a node with eight GPUs.

Needs a Python with torch 2.11 or newer, no GPU. Run it again only to add lists; the tests use the
stored answers. PyTorch reads the text (_parse_visible_devices) and finds UUIDs
(_transform_uuid_to_ordinals) in functions of their own; numbers it cuts at the first one that is
not below the number of GPUs, inside a function that needs a driver, so that is repeated here.
Of MIG names it only reads the text.
"""
import os

import torch

UUIDS = [f"GPU-a{k:x}000000-1111-2222-3333-444444444444" for k in range(8)]

LISTS = """\
0|1|7|8|99|0,1|1,2,3,4|4,3,2,1|7,0|0,1,2,3,4,5,6,7|0,1,2,3,4,5,6,7,8|3,9,1|1,,2|,1|1,|,|0,0
1,2,1|0,99,0|99,99|-1|0,-1|0,-1,0|-1,-1|-0|0,-0|+1|+1,1|abc|1,abc,2|1gpu2|1gpu2,2ampere|1,1abc
0x10|007|1.5,2| 1|1 |  2 , 3|\t1|1 2|1;2|1:2|none|all|NoDevFiles|void|2147483648
99999999999999999999|-99999999999999999999|0,18446744073709551616|GPU-a0|GPU-a1,GPU-a0|GPU-a
GPU-|GPU-a1000000-1111-2222-3333-444444444444|GPU-a1,GPU-a10|GPU-a1,GPU-a1|GPU-zz
GPU-a2,GPU-zz,GPU-a3|GPU-a2,GPU-zz,GPU-a2|GPU-a2,3|3,GPU-a2|GPU-a2, GPU-a3| GPU-a2|GPU-A2
gpu-a2|GPU-a2,|GPU-a2,,GPU-a3|GPU-a2,MIG-b000|GPU-a1,GPU-a10,GPU-zz|GPU-a7,GPU-a6,GPU-a5
GPU-a8|GPU-a1000000-1111-2222-3333-4444444444445""".replace("\n", "|").split("|")


def answer(text):
    os.environ["CUDA_VISIBLE_DEVICES"] = text
    entries = torch.cuda._parse_visible_devices()
    if entries and isinstance(entries[0], str):
        return torch.cuda._transform_uuid_to_ordinals(entries, UUIDS)
    for position, number in enumerate(entries):
        if number >= len(UUIDS):
            return entries[:position]
    return entries


def main():
    version = torch.__version__.split("+")[0]
    print(f"// Made by make_visible_cases.py with torch {version}: list, indices of the visible GPUs.")
    for text in LISTS:
        quoted = text.replace("\t", "\\t")
        numbers = ", ".join(map(str, answer(text)))
        print(f'{{"{quoted}", {{{numbers}}}}},')


main()
