#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the checkers: of the files in self_test, run.py must refuse those in REASONS, each for the
reason that its name says, and pass the others; batch.py (clang) and fork_server.py (g++) must vouch for exactly
what is listed here."""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FILES = sorted((HERE / "self_test").glob("*.cpp"))
REASONS = {
    "wrong_text": "the message lacks the text",
    "two_errors": "the mistake gives 2 errors",
    "broken_twin": "the correct twin does not compile",
    "collides": "the correct twin does not compile",
    "compiles": "the mistake compiles",
    "shared_hides": "the mistake gives 2 errors",
    "several_wrong": "several_wrong none: the mistake compiles",
    "too_long": "more than 2",
    "too_wide": "columns, more than 40",
    "unclosed": "the correct twin does not compile",
}
# What passes together; with clang all but the mistake of `shared`, which another file has, too, and
# `unclosed`, with which nothing passes there.
TWINS = {"compiles", "good", "shared", "shared_hides", "several by_name", "several by_name TWICE",
         "several const_too", "several_wrong by_name", "several_wrong none", "too_long", "too_wide",
         "two_errors", "wrong_text"}
MISTAKES = {"broken_twin", "collides", "good", "several by_name", "several by_name TWICE",
            "several const_too", "several_wrong by_name", "shared", "unclosed"}


def passed_together(compiler: str, folder: pathlib.Path, options: list[str]) -> set[str]:
    (folder / "flags.txt").write_text(f"-I{HERE / 'self_test'}\n")
    (folder / "key").write_text("self-test")
    (folder / "empty.hpp").write_text("")
    script, header = (("batch.py", "prelude.pch") if "clang" in compiler
                      else ("fork_server.py", "dimesh/dimesh.hpp.gch"))
    for name in ("plain", "all"):
        (folder / name / "dimesh").mkdir(parents=True)
        subprocess.run([compiler, "-std=c++20", "-x", "c++-header", "-o", str(folder / name / header),
                        str(folder / "empty.hpp")], check=True)
    done = subprocess.run([sys.executable, str(HERE / script), "--compiler", compiler, *options,
                           *(file for file in FILES if file.stem != "unclosed" or "clang" not in compiler)],
                          capture_output=True, text=True)
    print(done.stdout + done.stderr, end="")
    return {name for file in (folder / "passed").glob("*.json")
            for name in json.loads(file.read_text())["passed"]}


def main() -> int:
    failed = 0
    for compiler in sys.argv[1:] or ["g++"]:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            options = ["--flags", str(folder / "flags.txt"), "--precompiled", name]
            found = passed_together(compiler, folder, options)
            wanted = {f"twin {n}" for n in TWINS}
            wanted |= {f"mistake {n}" for n in MISTAKES if n not in ("shared", "unclosed") or "clang" not in compiler}
            for case in sorted(found ^ wanted):
                print(f"WRONG: one {'vouches' if case in found else 'does not vouch'} for {case} [{compiler}]")
            failed += len(found ^ wanted)
            for alone in (["--alone"], []):
                for source in FILES:
                    done = subprocess.run([sys.executable, str(HERE / "run.py"), "--compiler", compiler,
                                           *options, *alone, str(source)], capture_output=True, text=True)
                    reason = REASONS.get(source.stem)
                    right = (done.returncode == 0 if reason is None
                             else done.returncode == 1 and reason in done.stdout)
                    print(f"{'ok' if right else 'WRONG'}: {source.stem} {' '.join(alone)} [{compiler}]")
                    if not right:
                        print(done.stdout + done.stderr)
                        failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
