# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What batch.py and fork_server.py write down for run.py: which cases pass."""
import argparse
import hashlib
import json
import os
import pathlib
import shlex

import cases


class Passed:
    """What passes of each file: {"twin NAME": "", "mistake NAME": what run.py prints of it}."""

    def __init__(self, every: list[cases.Case]):
        self.of_files = {case.source: {} for case in every}
        self.cases, self.twins, self.mistakes = len(every), 0, 0

    def twin(self, case: cases.Case) -> None:
        self.of_files[case.source][f"twin {case.name}"] = ""
        self.twins += 1

    def mistake(self, case: cases.Case, compiler: str, lines: list[str]) -> None:
        self.of_files[case.source][f"mistake {case.name}"] = cases.measured(case, compiler, lines)
        self.mistakes += 1

    def write(self, compiler: str, precompiled: pathlib.Path) -> None:
        (precompiled / "passed").mkdir(parents=True, exist_ok=True)
        for source, passed in self.of_files.items():
            text = json.dumps({"key": key_of(compiler, source, precompiled), "passed": passed}, indent=1)
            file = precompiled / "passed" / f"{source.stem}.json"
            (partial := file.with_suffix(".partial")).write_text(text)
            os.replace(partial, file)

    def __str__(self) -> str:
        return f"of {self.cases} cases, {self.twins} twins and {self.mistakes} mistakes have passed together"


def passed_together(compiler: str, source: pathlib.Path, precompiled: pathlib.Path | None) -> dict:
    """What was written down of a file; nothing, if anything has changed since."""
    file = precompiled / "passed" / f"{source.stem}.json" if precompiled else None
    if not file or not file.is_file():
        return {}
    verdict = json.loads(file.read_text())
    return verdict["passed"] if verdict["key"] == key_of(compiler, source, precompiled) else {}


def key_of(compiler: str, source: pathlib.Path, precompiled: pathlib.Path) -> str:
    """All that a verdict depends on; the headers and flags are in the precompiled header's own key."""
    digest = hashlib.sha256(compiler.encode())
    pages = sorted({case.page for case in cases.cases_of(source)})
    for file in [precompiled / "key", source, *sorted(cases.HERE.glob("*.hpp")), *sorted(cases.HERE.glob("*.py")),
                 *sorted((cases.HERE / "plugin").iterdir()), *pages]:
        digest.update(file.read_bytes() if file.is_file() else b"none")
    return digest.hexdigest()


def parser_of(description: str) -> argparse.ArgumentParser:
    """The arguments that both have."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", type=pathlib.Path, required=True)
    parser.add_argument("--precompiled", type=pathlib.Path, required=True)
    parser.add_argument("--half", action="store_true", help="half of the twins, as run.py has it")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    return parser


def flags_of(arguments: argparse.Namespace) -> list[str]:
    return shlex.split(arguments.flags.read_text())
