#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does every public header compile alone, twice, and without a warning? With clang.

What a header includes in any case, it may read from a precompiled header, and sees no more for that.
Some headers of the library, each checked in the same way, serve as such for the others: those that
save the most text, of them the largest that a header includes. Before them stand the foreign headers.

  check_headers.py --compiler CXX --flags FILE --folder DIR [--jobs N] INCLUDE GROUP=HEADER,HEADER...
"""
import argparse
import concurrent.futures
import functools
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

import header_groups

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
BASES = 24  # each costs as much as a header with nothing before it


def compiled(command: list[str], text: str) -> str:
    """What the compiler says of a text."""
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("include", type=pathlib.Path)
    parser.add_argument("groups", nargs="+")
    arguments = parser.parse_args()
    foreign = dict(group.split("=") for group in arguments.groups)
    flags = ["-std=c++20", *WARNINGS, *shlex.split(arguments.flags.read_text())]
    folder = arguments.folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    for group, headers in foreign.items():
        said = compiled([arguments.compiler, *flags, "-x", "c++-header", "-", "-o", str(folder / f"{group}.pch")],
                        "".join(f"#include <{h}>\n" for h in headers.split(",")))
        if said:
            sys.exit(said)

    root = arguments.include
    direct = {str(h.relative_to(root)): header_groups.includes(h) for h in sorted(root.rglob("*.hpp"))}
    group_of = dict(header_groups.grouped(root, foreign))

    @functools.cache
    def closure(header: str) -> frozenset[str]:
        """What a header of the library brings, itself too."""
        own = [h for h in direct[header] if h in direct]
        return frozenset([header]).union(*(closure(h) for h in own))

    def base_of(header: str, bases: list[str]) -> str:
        """The largest of some headers that this one includes, and whose foreign headers are its own."""
        fitting = [b for b in bases if b in closure(header) - {header} and group_of[b] == group_of[header]]
        return max(fitting, key=lambda b: len(closure(b)), default="")

    bases: list[str] = []
    left = {header: len(closure(header)) for header in direct}
    for _ in range(BASES):
        saved = dict.fromkeys(direct, 0)
        for header in direct:
            for b in closure(header) - {header}:
                if group_of[b] == group_of[header]:
                    saved[b] += max(0, left[header] - (len(closure(header)) - len(closure(b))))
        bases.append(max(saved, key=lambda b: saved[b]))
        for header in direct:
            if base := base_of(header, bases):
                left[header] = len(closure(header)) - len(closure(base))

    def check(header: str, base: str) -> tuple[str, str]:
        ready = folder / (base.replace("/", ".") + ".pch") if base else folder / f"{group_of[header]}.pch"
        given = ["-include-pch", str(ready)] if ready.exists() else []
        made = ["-x", "c++-header", "-o", str(folder / (header.replace("/", ".") + ".pch"))]
        kind = made if header in bases else ["-x", "c++", "-fsyntax-only"]
        return header, compiled([arguments.compiler, *flags, *given, *kind, "-"], f"#include <{header}>\n" * 2)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        found = list(pool.map(lambda h: check(h, ""), bases))
        found += pool.map(lambda h: check(h, base_of(h, bases)), sorted(direct.keys() - set(bases)))
    failed = [(header, said) for header, said in found if said]
    for header, said in failed:
        print(f"{header} does not stand alone:\n{said}")
    print(f"{len(found)} headers, {len(failed)} do not stand alone")
    return bool(failed) or not found


if __name__ == "__main__":
    sys.exit(main())
