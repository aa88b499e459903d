#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups the library's headers by the costly foreign headers that each includes in any case.

header_groups.py INCLUDE_DIR NAME=HEADER,HEADER... ...
    prints a line "NAME HEADER" for each header: the last group all of whose foreign headers the
    header includes, itself or through others of the library; "none" if there is no such group

A header then sees nothing of a precompiled header with these that it would not see without: what is
included under a condition does not count.
"""
import pathlib
import re
import sys


def includes(header: pathlib.Path) -> set[str]:
    """What a header includes whatever is defined."""
    found, depth = set(), 0
    for line in header.read_text(encoding="utf-8").splitlines():
        if re.match(r"\s*#\s*if", line):
            depth += 1
        elif re.match(r"\s*#\s*endif", line):
            depth -= 1
        elif depth == 0 and (include := re.match(r"\s*#\s*include\s*[<\"]([^>\"]+)", line)):
            found.add(include[1])
    return found


def closures(root: pathlib.Path) -> dict[str, set[str]]:
    """Every header, and all that it includes, itself or through others of the library."""
    direct = {str(h.relative_to(root)): includes(h) for h in sorted(root.rglob("*.hpp"))}
    found = {}
    for header in direct:
        seen, rest = set(), [header]
        while rest:
            if (one := rest.pop()) not in seen:
                seen.add(one)
                rest += direct.get(one, ())
        found[header] = seen
    return found


def grouped(root: pathlib.Path, groups: dict[str, str]) -> list[tuple[str, str]]:
    """Every header with its group; groups: the foreign headers of each, separated by commas."""
    needs = [(name, set(headers.split(","))) for name, headers in groups.items()]
    found = []
    for header, seen in closures(root).items():
        fitting = [name for name, needed in needs if needed <= seen]
        found.append((header, (fitting or ["none"])[-1]))
    return found


def main() -> int:
    for header, group in grouped(pathlib.Path(sys.argv[1]), dict(g.split("=") for g in sys.argv[2:])):
        print(group, header)
    return 0


if __name__ == "__main__":
    sys.exit(main())
