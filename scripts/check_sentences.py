#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Is there a test for every sentence that the library throws?

Every `throw error(...)` and every `words ... raise()` in include/ has literals; one of them must
stand in a string of a test, or in what a case of tests/run_fail expects.

  check_sentences.py [--list] [ROOT]     --list prints every sentence with its tests
"""
import argparse
import pathlib
import re
import sys

# Sentences without a test, by a part of them, and why. The list may only become shorter.
UNTESTED = {
    "runtime: MPI grants thread level": "an MPI library without threads is not at hand",
    "the function's value is recorded outside": "no program that compiles has come there yet",
    "an operand is a probe, and no rule says": "likewise",
}
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
LEAST = 12  # characters that tell one sentence from others
COMMENT = re.compile(r"^\s*//.*$", re.M)


def statements(text: str):
    """The statements that throw, with the line of each."""
    plain = COMMENT.sub(lambda m: " " * len(m[0]), text)
    for end in re.finditer(r"\braise\(\);|\bthrow error\(|\breturn std::string\(mine\.call\)", plain):
        if end[0].startswith("raise"):
            begin = plain.rfind("words", 0, end.start())
            stop = end.end()
        else:
            begin, stop = end.start(), plain.find(";\n", end.start())
        yield plain.count("\n", 0, begin) + 1, plain[begin:stop]


def fragments(statement: str) -> list[str]:
    """Literals of a statement, adjacent ones joined."""
    joined = re.sub(r'"\s*\n\s*"', "", statement)
    return [m[1].replace('\\"', '"') for m in LITERAL.finditer(joined)]


def chunks(expected: str) -> list[str]:
    """The parts of a regular expression that stand for themselves."""
    out = re.sub(r"\[\^?\\?[^\]]*\][*+]?|\.\*|\\d\+?|\(\?[=s:!]*|\)|\(", "\0", expected)
    out = re.sub(r"\\(.)", r"\1", out)
    return [c for c in re.split(r"[\0|]", out) if len(c) >= LEAST]


def expectations(root: pathlib.Path):
    for path in sorted((root / "tests").rglob("*.cpp")):
        if "compile_fail" in path.parts:
            continue
        text = path.read_text()
        name = str(path.relative_to(root / "tests"))
        for m in re.finditer(r"^\s*// {3}(.+)$|^// fails: (.+)$", text, re.M):
            for c in chunks(m[1] or m[2]):
                yield c, name
        for literal in fragments(text):
            if len(literal) >= LEAST:
                yield literal, name


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).resolve().parent.parent)
    given = parser.parse_args()
    root = pathlib.Path(given.root)
    expected = list(expectations(root))
    wrong, used, count = [], set(), 0
    for header in sorted((root / "include").rglob("*.hpp")):
        for line, statement in statements(header.read_text()):
            parts = [f for f in fragments(statement) if len(f) >= LEAST]
            if not parts:
                continue
            count += 1
            tests = sorted({name for text, name in expected for part in parts
                            if text in part or part in text})
            where = f"{header.relative_to(root)}:{line}"
            if given.list:
                print(f"{where}: {' ... '.join(parts)}\n    {', '.join(tests) or '---'}")
            excuse = [k for k in UNTESTED if any(k in p for p in parts) or k in statement]
            used.update(excuse if not tests else [])
            if not tests and not excuse:
                wrong.append(f"{where}: no test expects '{' ... '.join(parts)}'")
    wrong += [f"UNTESTED: '{k}' is tested, or gone; take it off" for k in UNTESTED if k not in used]
    print("\n".join(wrong) or f"check_sentences: {count} sentences, {len(UNTESTED)} without a test")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
