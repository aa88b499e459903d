#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which sentences of the library does no test of this folder expect? Lists them, and fails if there
are more than untested.txt allows: a new sentence comes with a test. Sentences are the texts of
static_assert in include/; fewer than allowed is an error, too, so that the number only falls. A
sentence has at most 160 characters: what else stands in the line, names and paths, is not ours.
Texts that begin with "dimesh: " are of what only the library itself can get wrong: no program can
fail them, and so no test.

  sentences.py [--list]
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
ALLOWED = HERE / "untested.txt"
LONGEST = 160
OWN = "dimesh: "
ASSERTION = re.compile(r"static_assert\((?:[^;\"]|\"[^\"]*\")*?,\s*((?:\"(?:[^\"\\\\]|\\\\.)*\"\s*)+)\)\s*;")


def sentences() -> dict[str, str]:
    """Each text, and the header where it stands."""
    found = {}
    for header in sorted((ROOT / "include").rglob("*.hpp")):
        for text in ASSERTION.findall(header.read_text()):
            parts = re.findall(r"\"((?:[^\"\\]|\\.)*)\"", text)
            found["".join(parts).replace('\\"', '"')] = str(header.relative_to(ROOT / "include"))
    return found


def main() -> int:
    expected = "\n".join(p.read_text() for p in sorted(HERE.glob("*.cpp")))
    untested = {text: header for text, header in sentences().items()
                if text not in expected and not text.startswith(OWN)}
    allowed = int(ALLOWED.read_text())
    print(f"{len(sentences())} sentences, {len(untested)} without a test, {allowed} allowed")
    if "--list" in sys.argv or len(untested) > allowed:
        for text, header in untested.items():
            print(f"  {header}: {text}")
    long = [text for text in sentences() if len(text) > LONGEST]
    for text in long:
        print(f"  {len(text)} characters, more than {LONGEST}: {text}")
    return 0 if len(untested) == allowed and not long else 1


if __name__ == "__main__":
    sys.exit(main())
