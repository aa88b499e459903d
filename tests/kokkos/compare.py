#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Are two lists that `results` printed equal: to the bit, or to rounding?

    compare.py HERE THERE [--rounding]

Says which lines differ, and by how much. To rounding: sums with weights differ by at most 5e-6 of the sum of
magnitudes (in double 1e-12, in bfloat16 1e-2), and whole numbers not at all.
"""
import argparse
import pathlib
import sys

BOUNDS = {"double": 1e-12, "float": 5e-6, "rounded": 1e-2}


def lines_of(path):
    lines = {}
    for line in pathlib.Path(path).read_text().splitlines():
        *words, elements, crc, weighted, magnitude = line.split()
        name = " ".join(words)
        if name in lines:
            sys.exit(f"{path}: {name} is there twice")
        lines[name] = (elements, crc, float(weighted), float(magnitude))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("here")
    parser.add_argument("there")
    parser.add_argument("--rounding", action="store_true")
    args = parser.parse_args()
    here, there = lines_of(args.here), lines_of(args.there)
    wrong = [f"{name}: in one of the two only" for name in here.keys() ^ there.keys()]
    equal, worst = 0, (0.0, "")
    for name in here.keys() & there.keys():
        (of, bits, a, size), (_, other_bits, b, other_size) = here[name], there[name]
        equal += bits == other_bits
        if bits == other_bits:
            continue
        off = max(abs(a - b), abs(size - other_size)) / max(size, 1e-300)
        worst = max(worst, (off, name))
        if not args.rounding or of == "whole" or not off <= BOUNDS[of]:
            wrong.append(f"{name}: the bits differ, sums by {off:.1e} of the magnitudes")
    if not here:
        wrong.append(f"{args.here}: no results")
    for line in sorted(wrong):
        print(line)
    print(f"{len(here)} results, {equal} equal to the bit"
          + (f", others differ by up to {worst[0]:.1e} ({worst[1]})" if worst[1] else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
