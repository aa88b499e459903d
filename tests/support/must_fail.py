#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command that must end with a failure and print a text.

must_fail.py REGEX COMMAND...
    exit status 0 if the command failed and its output matches REGEX
must_fail.py --case NAME --source FILE [--limit SECONDS] COMMAND...
    the same for one case of a program (tests/run_fail): NAME is appended to the command; it must end
    within the limit (20 s) with the exit status 1 and no signal, or as "exit: N" says; its output
    must match every line below "// case NAME: RANKS" in FILE

A command that hangs is ended. Before that, the library's watchdog (DIMESH_WATCHDOG) says on which
ranks it waits, and where.
"""
import argparse
import os
import re
import signal
import subprocess
import sys


def read_case(source: str, name: str) -> tuple[list[str], int]:
    """The expressions and the exit status that a case expects."""
    expected, status, inside = [], 1, False
    with open(source, encoding="utf-8") as lines:
        for line in map(str.strip, lines):
            if re.match(rf"// case {re.escape(name)}:", line):
                inside = True
            elif inside and (setting := re.match(r"//   exit: (\d+)$", line)):
                status = int(setting[1])
            elif inside and line.startswith("//   "):
                expected.append(line[5:])
            elif inside:
                break
    if not expected:
        sys.exit(f"must_fail: {source} says nothing of a case '{name}'")
    return expected, status


# A program ends its job: Open MPI's launcher sometimes hangs or crashes after that, where another
# rank is in MPI_Finalize already or ends at the same instant; or it stumbles over the ranks' last words.
ENDED = re.compile(r"MPI_ABORT was invoked|mpirun.* detected|ORTE_ERROR_LOG.*show_help")


def has_ended(so_far: subprocess.TimeoutExpired) -> bool:
    return ENDED.search((so_far.output or b"").decode(errors="replace")) is not None


def output_of(process: subprocess.Popen, limit: float) -> bytes:
    """All that it prints; TimeoutExpired if it has not ended within the limit, or some seconds after it
    ended its job."""
    waited = 0.0
    while True:
        try:
            return process.communicate(timeout=min(1.0, limit - waited))[0]
        except subprocess.TimeoutExpired as so_far:
            waited += 1
            if waited >= limit:
                raise
            if has_ended(so_far):
                limit = min(limit, waited + 5)


def run(command: list[str], limit: float) -> tuple[int | None, str]:
    """Exit status, None if the time was up, and everything the command printed."""
    environment = dict(os.environ)
    environment.setdefault("DIMESH_WATCHDOG", str(limit / 2))
    # mpirun waits for a second after a failure, also where no process is left that it could end.
    environment["OMPI_MCA_odls_base_sigkill_timeout"] = "0"
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment, start_new_session=True) as process:
        try:
            output = output_of(process, limit)
            return process.returncode, output.decode(errors="replace")
        except subprocess.TimeoutExpired as so_far:
            os.killpg(process.pid, signal.SIGTERM)  # mpirun takes its ranks down
            try:
                output, _ = process.communicate(timeout=1 if has_ended(so_far) else 5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
            return None, output.decode(errors="replace")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--case")
    parser.add_argument("--source")
    parser.add_argument("--limit", type=float)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if given.case:
        expected, wanted = read_case(given.source, given.case)
        command, limit = [*given.command, given.case], given.limit or 20
    else:
        expected, wanted = given.command[:1], None
        command, limit = given.command[1:], given.limit or 240
    status, output = run(command, limit)
    print(output, end="")
    for _ in range(2):
        if (status is not None and status >= 0) or not ENDED.search(output):
            break
        print("\nmust_fail: the launcher did not survive the end of its job; once more")
        status, output = run(command, limit)
        print(output, end="")
    if status is None:
        print(f"\nmust_fail: the command hangs: it has not ended within {limit:g} s")
        return 1
    if wanted is None and status == 0:
        print("must_fail: the command succeeded")
        return 1
    if wanted is not None and status != wanted:
        print(f"must_fail: the exit status is {status}, not {wanted}")
        return 1
    missing = [e for e in expected if not re.search(e, output)]
    for e in missing:
        print(f"must_fail: nothing in the output matches {e!r}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
