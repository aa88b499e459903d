#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills tests/killed/save.cpp at each of the calls by which it saves a checkpoint, one after the other.
Each run loads what those before it have left: the step that was saved last, whole, or the one after it
if the kill came late enough. In the end the folder has the last checkpoints, and nothing else.

  killed_saves.py saved|started|run RANK EVERY COMMAND...    RANK is the one that is killed, at every EVERYth call
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# mpirun waits for a second after a failure, also where no process is left that it could end.
AT_ONCE = {"OMPI_MCA_odls_base_sigkill_timeout": "0"}
FEWEST = {"0": 20, "1": 5}  # calls that change files, by rank: fewer, and they were not counted


def main() -> int:
    how, rank, every, command = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "run"

        def run(last: int, n: int) -> tuple[int, bool]:
            """The step that is there now, and whether the program lived to see it."""
            done = subprocess.run([*command, str(folder), how, str(n), rank], capture_output=True, text=True,
                                  errors="replace", timeout=60, env=os.environ | AT_ONCE)
            output = done.stdout + done.stderr
            loaded = re.search(r"^loaded (\d+)$", output, re.M)
            if not loaded or int(loaded[1]) not in (last, last + 1):
                sys.exit(f"call {n}: expected step {last} or {last + 1} to be loaded; it says\n{output}")
            saved = f"saved {int(loaded[1]) + 1}\n" in output
            if saved != (done.returncode == 0):
                sys.exit(f"call {n}: the program ends with {done.returncode}, and says\n{output}")
            return int(loaded[1]) + saved, saved

        (last, saved), calls = run(0, 0), 1 - every
        while not saved or calls <= 0:
            calls += every
            last, saved = run(last, calls)
        last, _ = run(last, 0)  # the one before may have begun while a killed one still ended
        left = sorted(file.name for file in folder.iterdir())
        print(f"killed at every {every} of {calls - 1} calls; step {last} is the last of {left}")
        if left != sorted(["latest", f"step-{last - 1}", f"step-{last}"]):
            sys.exit("expected `latest` and the last two steps")
        if calls - 1 < FEWEST[rank]:
            sys.exit(f"expected {FEWEST[rank]} calls or more")
    return 0


if __name__ == "__main__":
    sys.exit(main())
