#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types lines to a command, which must succeed and print what is expected for each, in their order.

  must_answer.py LINE REGEX [LINE REGEX]... -- COMMAND...
"""
import re
import subprocess
import sys


def main() -> None:
    end = sys.argv.index("--")
    lines, expected = sys.argv[1:end:2], sys.argv[2:end:2]
    ran = subprocess.run(sys.argv[end + 1:], input="".join(f"{s}\n" for s in lines), text=True,
                         stdout=subprocess.PIPE, timeout=240)
    print(ran.stdout)
    if ran.returncode != 0:
        sys.exit(f"must_answer: the exit status is {ran.returncode}")
    at = 0
    for line, wanted in zip(lines, expected):
        found = re.compile(wanted, re.MULTILINE).search(ran.stdout, at)
        if not found:
            sys.exit(f"must_answer: nothing after '{line}' matches {wanted!r}")
        at = found.end()


main()
