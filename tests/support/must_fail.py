#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command that must end with a failure and print a text.

must_fail.py REGEX COMMAND...   exit status 0 if the command failed and its output matches REGEX
"""
import re
import subprocess
import sys


def main() -> int:
    pattern, command = sys.argv[1], sys.argv[2:]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240)
        status, output = done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as expired:
        output = (expired.stdout or b"").decode(errors="replace")
        print(output, "\nmust_fail: the command hangs instead of failing", sep="")
        return 1
    print(output, end="")
    if status == 0:
        print("must_fail: the command succeeded")
        return 1
    if not re.search(pattern, output):
        print(f"must_fail: nothing in the output matches {pattern!r}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
