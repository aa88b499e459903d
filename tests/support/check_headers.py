#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does every header compile alone, twice, and without a warning? With clang.

What a header includes in any case, it may read from a precompiled header, and sees no more for that.
Some headers of the library, each checked in the same way, serve as such for the others: those that
save the most text, of them the largest that a header includes. Before them stand the foreign headers.
Users include what has a page in docs/reference: --public checks those headers, --internal the others.

  check_headers.py --compiler CXX --flags FILE --folder DIR [--public | --internal] [--jobs N] INCLUDE
      GROUP=HEADER,HEADER...
"""
import argparse
import concurrent.futures
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable

import header_groups

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference"

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
# What a precompiled header instantiates is done there, and not again by each that reads it.
PRECOMPILE = ["-fpch-instantiate-templates", "-x", "c++-header", "-o"]
BASES = 24  # each costs as much as a header with nothing before it


def compiled(command: list[str], text: str) -> str:
    """What the compiler says of a text."""
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def is_public(header: str) -> bool:
    """Has it a page, or are its names on those of others, as the umbrella's are?"""
    page = PAGES / f"{header.removeprefix('dimesh/').removesuffix('.hpp')}.md"
    return header == "dimesh/dimesh.hpp" or page.is_file()


class Headers:
    """What each header of the library brings, the group of its foreign headers, and which are to be checked."""

    def __init__(self, root: pathlib.Path, foreign: dict[str, str], wanted: Callable[[str], bool]):
        found = header_groups.closures(root)
        self.brings = {header: seen & found.keys() for header, seen in found.items()}
        self.group = dict(header_groups.grouped(root, foreign))
        self.wanted = [header for header in self.brings if wanted(header)]

    def fits(self, base: str, header: str) -> bool:
        """May the header read this one precompiled? It includes it, and the same foreign headers."""
        return base != header and base in self.brings[header] and self.group[base] == self.group[header]

    def base_of(self, header: str, bases: list[str]) -> str:
        """The largest that fits, or none."""
        return max((b for b in bases if self.fits(b, header)), key=lambda b: len(self.brings[b]), default="")

    def bases(self) -> list[str]:
        """BASES headers, each the one that saves the most beside those before it."""
        chosen: list[str] = []
        saved = dict.fromkeys(self.brings, 0)  # headers that each need not read again
        for _ in range(BASES):
            more = dict.fromkeys(self.brings, 0)
            for header in self.wanted:
                for base in self.brings[header]:
                    if self.fits(base, header):
                        more[base] += max(0, len(self.brings[base]) - saved[header])
            chosen.append(max(more, key=lambda base: more[base]))
            for header in self.wanted:
                if base := self.base_of(header, chosen):
                    saved[header] = len(self.brings[base])
        return chosen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--public", action="store_true")
    which.add_argument("--internal", action="store_true")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("include", type=pathlib.Path)
    parser.add_argument("groups", nargs="+")
    arguments = parser.parse_args()
    foreign = dict(group.split("=") for group in arguments.groups)
    flags = ["-std=c++20", *WARNINGS, *shlex.split(arguments.flags.read_text())]
    folder = arguments.folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    for group, needed in foreign.items():
        said = compiled([arguments.compiler, *flags, *PRECOMPILE, str(folder / f"{group}.pch"), "-"],
                        "".join(f"#include <{h}>\n" for h in needed.split(",")))
        if said:
            sys.exit(said)

    all_of_them = not arguments.public and not arguments.internal
    headers = Headers(arguments.include, foreign, lambda h: all_of_them or is_public(h) == arguments.public)
    bases = headers.bases()

    def check(header: str, base: str) -> tuple[str, str]:
        ready = folder / (base.replace("/", ".") + ".pch") if base else folder / f"{headers.group[header]}.pch"
        given = ["-include-pch", str(ready)] if ready.exists() else []
        made = [*PRECOMPILE, str(folder / (header.replace("/", ".") + ".pch"))]
        kind = made if header in bases else ["-x", "c++", "-fsyntax-only"]
        return header, compiled([arguments.compiler, *flags, *given, *kind, "-"], f"#include <{header}>\n" * 2)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        found = list(pool.map(lambda h: check(h, ""), bases))
        found += pool.map(lambda h: check(h, headers.base_of(h, bases)), sorted({*headers.wanted} - {*bases}))
    failed = [(header, said) for header, said in found if said]
    for header, said in failed:
        print(f"{header} does not stand alone:\n{said}")
    print(f"{len(found)} headers, {len(failed)} do not stand alone")
    return bool(failed) or not found


if __name__ == "__main__":
    sys.exit(main())
