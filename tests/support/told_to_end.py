#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does a job that is told to end save, leave with status 0, and go on by the same command to where
one ends that nobody stopped? The signal goes to one rank or to the launcher, as schedulers send it.
Open MPI's launcher takes SIGTERM as an order to kill: it waits, passes it on, waits as long again
and kills whoever is left; its own status is 1 then, whatever that of the ranks.

  told_to_end.py USR1|TERM launcher|rank COMMAND...      tests/told/train.cpp; the folder is added
"""
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path


def ranks_of(launcher: int, program: str) -> list:
    """The processes below the launcher, or its helpers, that run the program."""
    parents, runs = {}, []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().split(b"\0")[0].decode()
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        parents[int(entry.name)] = parent
        if command == program:
            runs.append(int(entry.name))

    def is_below(pid: int) -> bool:
        return pid == launcher or (pid in parents and is_below(parents[pid]))

    return [pid for pid in runs if is_below(pid)]


def run(command: list, told: str = "", whom: str = "") -> str:
    """The last line; `told`: a signal is sent after some steps."""
    # The 1 s that Open MPI waits by itself is little for a save on a machine with other work.
    environment = dict(os.environ, OMPI_MCA_odls_base_sigkill_timeout="2")
    job = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    status = 1 if told == "TERM" and whom == "launcher" else 0
    last = ""
    for line in job.stdout:
        last = line if line.strip() else last
        if told and line.startswith("step 7"):
            program = next(c for c in command if c.endswith("train"))
            pid = job.pid if whom == "launcher" else max(ranks_of(job.pid, program))
            os.kill(pid, getattr(signal, "SIG" + told))
            told = ""
    if job.wait() != status:
        sys.exit(f"told_to_end: the status is {job.returncode}")
    return last


def main() -> int:
    told, whom, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        whole = run(command + [folder + "/whole"])
        first = run(command + [folder + "/parts"], told, whom)
        steps = int(Path(folder, "parts", "latest").read_text().split("-")[1])
        second = run(command + [folder + "/parts"])
        third = run(command + [folder + "/parts"])
    print(first[:60], second[:60], third[:60], sep="\n")
    losses = whole.split(":")[1]
    if not first.startswith(f"told, {steps} steps") or not 8 <= steps < 200:
        sys.exit("told_to_end: it did not end early")
    if not second.startswith(f"done, {200 - steps} steps") or second.split(":")[1] != losses:
        sys.exit("told_to_end: it did not go on to the same end")
    if not third.startswith("done, 0 steps") or third.split(":")[1] != losses:
        sys.exit("told_to_end: what has ended runs on")
    return 0


if __name__ == "__main__":
    sys.exit(main())
