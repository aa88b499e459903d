#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does every public header compile alone, twice, and without a warning? With clang, which reads of a
precompiled header only what a file needs of it: a header that includes Kokkos, MPI or Hana in any
case gets them precompiled, and sees no more of them for that.

  check_headers.py --compiler CXX --flags FILE --folder DIR [--jobs N] INCLUDE GROUP=HEADER,HEADER...
"""
import argparse
import concurrent.futures
import os
import pathlib
import shlex
import subprocess
import sys

import header_groups

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


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
    arguments.folder.mkdir(parents=True, exist_ok=True)
    precompiled = {}
    for group, headers in foreign.items():
        precompiled[group] = arguments.folder / f"{group}.pch"
        said = compiled([arguments.compiler, *flags, "-x", "c++-header", "-", "-o", str(precompiled[group])],
                        "".join(f"#include <{h}>\n" for h in headers.split(",")))
        if said:
            sys.exit(said)

    def check(header: str, group: str) -> tuple[str, str]:
        given = ["-include-pch", str(precompiled[group])] if group in precompiled else []
        return header, compiled([arguments.compiler, *flags, *given, "-fsyntax-only", "-x", "c++", "-"],
                                f"#include <{header}>\n" * 2)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        found = list(pool.map(lambda pair: check(*pair),
                              header_groups.grouped(arguments.include, foreign)))
    failed = [(header, said) for header, said in found if said]
    for header, said in failed:
        print(f"{header} does not stand alone:\n{said}")
    print(f"{len(found)} headers, {len(failed)} do not stand alone")
    return bool(failed) or not found


if __name__ == "__main__":
    sys.exit(main())
