#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the checker: self_test/good.cpp must pass run.py, every other file there must not, each
for the reason that its name says."""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REASONS = {
    "wrong_text": "the message lacks the text",
    "two_errors": "the mistake gives 2 errors",
    "broken_twin": "the correct twin does not compile",
    "compiles": "the mistake compiles",
    "too_long": "more than 2",
}


def main() -> int:
    failed = 0
    for compiler in sys.argv[1:] or ["g++"]:
        for source in sorted((HERE / "self_test").glob("*.cpp")):
            done = subprocess.run([sys.executable, str(HERE / "run.py"), "--compiler", compiler,
                                   str(source)], capture_output=True, text=True)
            reason = REASONS.get(source.stem)
            right = (done.returncode == 0 if reason is None
                     else done.returncode == 1 and reason in done.stdout)
            print(f"{'ok' if right else 'WRONG'}: {source.stem} [{compiler}]")
            if not right:
                print(done.stdout + done.stderr)
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
