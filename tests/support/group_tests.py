#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One translation unit of several test files: first what any of them includes, then each in a namespace
of its own, where its own #include lines find nothing left to do. So no file may name what is its own
from the global namespace, open a namespace of others, or define a macro; --groupable lists those that
do not, and that are small enough to gain by it.

  group_tests.py --groupable FILE...
  group_tests.py --out UNIT.cpp FILE...
"""
import argparse
import pathlib
import re

LARGEST = 9000  # bytes of a file: larger ones take their time for themselves
INCLUDE = re.compile(r'^#include .*$', re.M)
ALONE = re.compile(r'^// alone: |(?<![\w>:])::[a-z]|^namespace (?:dimesh|std|boost|Kokkos)\b|BOOST_HANA_ADAPT'
                   r'|^ *#(?!include)|^#include "\.\.', re.M)


def groupable(file: pathlib.Path) -> bool:
    return file.stat().st_size <= LARGEST and not ALONE.search(file.read_text())


def unit_of(files: list[pathlib.Path]) -> str:
    includes = sorted({line for file in files for line in INCLUDE.findall(file.read_text())})
    lines = ["// Made by tests/support/group_tests.py.", *includes]
    for number, file in enumerate(files, 1):
        lines += [f"namespace file_{number} {{", f'#include "{file}"', "}"]
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groupable", action="store_true")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.groupable:
        print(";".join(str(file) for file in arguments.files if groupable(file)), end="")
        return
    text = unit_of(arguments.files)
    if not arguments.out.is_file() or arguments.out.read_text() != text:
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()
