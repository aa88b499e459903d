#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small data sets of images and labels as IDX files: make_images.py FOLDER

few-: 70 images of 28 x 28. small-: 70 of 16 x 16. unlabelled-: 70 images and 69 labels.
mislabelled-: 70 images, of which the fourth (record 3) has the label 11.
"""
import gzip
import pathlib
import struct
import sys

to = pathlib.Path(sys.argv[1])
to.mkdir(parents=True, exist_ok=True)


def write(name: str, extents: list[int], wrong: int = -1):
    size = 1
    for n in extents:
        size *= n
    labels = len(extents) == 1
    data = bytearray(i * 7 % 10 if labels else i * 31 % 256 for i in range(size))
    if wrong >= 0:
        data[wrong] = 11
    head = struct.pack(f">HBB{len(extents)}I", 0, 8, len(extents), *extents)
    with gzip.open(to / name, "wb") as file:
        file.write(head + data)


for base, side, labels, wrong in (("few-", 28, 70, -1), ("small-", 16, 70, -1),
                                  ("unlabelled-", 28, 69, -1), ("mislabelled-", 28, 70, 3)):
    write(base + "images-idx3-ubyte.gz", [70, side, side])
    write(base + "labels-idx1-ubyte.gz", [labels], wrong)
