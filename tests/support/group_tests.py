#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One translation unit of several test files: first what any of them includes, then each in a namespace
of its own, where its own #include lines find nothing left to do. So no file may open a namespace of
others or define a macro; --groupable lists those that do not, and that are small enough to gain by it.
Of a file that names what is its own from the global namespace there is a copy here, which says whose.

  group_tests.py --groupable FILE...
  group_tests.py --out UNIT.cpp FILE...
"""
import argparse
import pathlib
import re

LARGEST = 13000  # bytes of a file: larger ones take their time for themselves
INCLUDE = re.compile(r'^#include .*$', re.M)
ALONE = re.compile(r'^// alone: |^namespace (?:dimesh|std|boost|Kokkos)\b|BOOST_HANA_ADAPT|^ *#(?!include)'
                   r'|^#include "\.\.', re.M)
GLOBAL = re.compile(r"(?<![\w>:)])::([a-z]\w*)")
OWN = r"^(?!#|//)[\w:<>,&*\[\] ]*(?<!:)\b{}\b *(?:[;={{(<:]|final)"  # a declaration at a line's start


def groupable(file: pathlib.Path) -> bool:
    return file.stat().st_size <= LARGEST and not ALONE.search(file.read_text())


def within(text: str, space: str) -> str:
    """The text as it is in a namespace: there `::name` is no name of its own."""
    own = {name for name in set(GLOBAL.findall(text)) if re.search(OWN.format(name), text, re.M)}
    return GLOBAL.sub(lambda found: (space if found[1] in own else "") + found[0], text)


def unit_of(files: list[pathlib.Path]) -> str:
    includes = sorted({line for file in files for line in INCLUDE.findall(file.read_text())})
    lines = ["// Made by tests/support/group_tests.py.", *includes]
    for number, file in enumerate(files, 1):
        text = file.read_text()
        inside = within(text, f"file_{number}")
        whole = [f'#include "{file}"'] if inside == text else [f'#line 1 "{file}"', inside.rstrip()]
        lines += [f"namespace file_{number} {{", *whole, "}"]
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
