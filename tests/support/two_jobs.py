#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two jobs save checkpoints to one folder at once, and keep the last two (tests/killed/save.cpp, race):
the same steps, every other step each, or one far ahead of the other. Of each step a job says that it has
saved it, or that there is one already; afterwards the latest one loads, and nothing half done is left.

  two_jobs.py PROGRAM COMMAND... -- COMMAND...    what starts the jobs: mpirun -n 2, say, and mpirun -n 1
"""
import pathlib
import re
import subprocess
import sys
import tempfile

TAKEN = re.compile(r"refused (\d+): checkpoint: '.*/step-\1': there is a checkpoint of this step already; "
                   r"does another job write here\?( \(rank 0\))?$")


def main() -> int:
    program, rest = sys.argv[1], sys.argv[2:]
    commands = rest[:rest.index("--")], rest[rest.index("--") + 1:]
    refused = 0
    for starts in ((1, 1), (1, 1)), ((1, 2), (2, 2)), ((1, 1), (1000, 1)):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "run"
            jobs = [subprocess.Popen([*command, program, str(folder), "race", str(first), str(by)],
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                    for command, (first, by) in zip(commands, starts)]
            for job, (first, by) in zip(jobs, starts):
                said = job.communicate(timeout=120)[0].splitlines()
                steps = iter(range(first, first + 20 * by, by))
                for line in said:
                    if line != f"saved {(step := next(steps, None))}" and \
                            (not (taken := TAKEN.match(line)) or int(taken[1]) != step):
                        sys.exit(f"expected step {step} saved, or refused as taken; it says\n{line}")
                    refused += line.startswith("refused")
                if job.returncode != 0 or next(steps, None) is not None:
                    sys.exit(f"a job ends with {job.returncode}, and says\n" + "\n".join(said))
            left = sorted(file.name for file in folder.iterdir())
            latest = (folder / "latest").read_text().strip()
            if latest not in left or any(name.startswith(".") for name in left) or len(left) > 4:
                sys.exit(f"latest is {latest}; there are {left}")
            done = subprocess.run([*commands[0], program, str(folder), "saved", "0", "0"], capture_output=True,
                                  text=True, timeout=60)
            loaded = re.search(r"^loaded (\d+)$", done.stdout, re.M)
            if not loaded or f"step-{loaded[1]}" not in left:
                sys.exit(f"expected {latest} to load; it says\n{done.stdout}{done.stderr}")
            print(f"{starts}: {latest} is the latest of {left}")
    print(f"{refused} steps were refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
