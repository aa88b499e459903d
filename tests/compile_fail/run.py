#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a mistake does not compile, and how the compiler says so.

A file has `// expect: TEXT` lines, the mistake under `#ifdef COMPILE_FAIL` and its correct twin
under `#else`. The twin must compile without a word. The mistake must give exactly one error, every
expected text, and at most 10 lines of output. `// lines: N` says otherwise, and `// levels: N` that
there are N templates of the user's, and one of the library's, between the mistake and the function
called: each may add one line on g++ and three on clang. `// also: NAME` repeats all with -DNAME.

Of a line, what the library says fits 160 columns: the sentence, and the condition with the names of
dims, axes and numbers that are to blame; `// columns: N` says otherwise. (Culprits that are types,
tensors and functions say, are as long as they are; the compilers put a place and words of their own
before all that, and lists of template arguments into the lines that tell the way there.)

A file may hold several mistakes, which then cost a fraction of a second each. What all of them need
stands first; then, for each, a line `// mistake: NAME`, its `// expect:` (`// lines:`, `// levels:`,
`// also:`) lines and its `#ifdef COMPILE_FAIL ... #else ... #endif`, up to the next such line:

  // SPDX-License-Identifier: ...
  // What dims are no place for.
  #include <dimesh/dimesh.hpp>

  #include "names.hpp"

  // mistake: sum_of_nothing
  // expect: sum: ...
  #ifdef COMPILE_FAIL
  auto f(const x& a) { return dm::sum<>(a); }
  #else
  auto f(const x& a) { return dm::sum<batch>(a); }
  #endif

  // mistake: sum_twice
  ...

Each is judged as if the others were not there, so that names may come again.

The page docs/errors/NAME.md of a file NAME.cpp (or of a mistake NAME) quotes what the compilers say:
the error, and the line in which g++ names the culprits. It must be what they do say; --quote writes it.

A compiler's start costs more than a case. So fork_server.py (g++) and batch.py (clang) compile all
cases first and keep those that pass beyond doubt in DIR/passed; what they do not vouch for is compiled alone
here. A comment `// alone: WHY` keeps a file to this; --alone trusts neither, and has every compiler do everything.
With --half each compiler does half of the twins (what they have to show, one of them shows), and half of the
cases that are for this alone. All headers are precompiled:
what is wrong then is tried again with those that the case includes, and with --alone at once.
--tighten lowers `// lines:` to the most that a compiler says, and drops it where that is within the
limit.

  run.py [--compiler CXX]... [--flags FILE] [--precompiled DIR] [--alone] [--half] [--verbose] [--quote] FILE...
  run.py --compiler CXX [--flags FILE] --precompile DIR
  run.py [--compiler CXX]... [--flags FILE] --tighten FILE...
"""
import argparse
import contextlib
import dataclasses
import hashlib
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import cases
import includes
import verdicts

PRELUDE = "precompiled_prelude.hpp"


def default_flags() -> list[str]:
    """Include directories where nobody passes any: the usual places of a Debian machine."""
    flags = [f"-I{cases.ROOT / 'include'}", "-fopenmp-simd"]
    if pathlib.Path("/usr/include/trilinos").is_dir():
        flags += ["-isystem", "/usr/include/trilinos"]
    for wrapper in ("mpicxx.openmpi", "mpicxx"):
        if shutil.which(wrapper):
            shown = subprocess.run([wrapper, "--showme:compile"], capture_output=True, text=True)
            if shown.returncode == 0:
                flags += shlex.split(shown.stdout.replace("-I", "-isystem "))
                break
    return flags


def default_compilers() -> list[str]:
    clang = next((c for c in ("clang++-19", "clang++") if shutil.which(c)), None)
    return ["g++"] + ([clang] if clang else [])


def precompile(compiler: str, flags: list[str], folder: pathlib.Path) -> int:
    """Compiles the umbrella header into folder/plain, it with all that cases include into folder/all, and for
    fork_server.py that with what most share into folder/warm, unless that is done and nothing has changed."""
    headers = {"plain": [includes.UMBRELLA],
               "all": includes.all_of([file.read_text() for file in sorted(cases.HERE.glob("*.cpp"))])}
    if "clang" not in compiler and cases.plugin_headers(compiler):
        headers["warm"] = [*headers["all"], str(cases.HERE / "warm.hpp")]
    digest = hashlib.sha256("\n".join([compiler, *flags, *headers["all"]]).encode())
    for file in [cases.HERE / "run.py", cases.HERE / "includes.py", *sorted(cases.HERE.glob("*.hpp")),
                 *sorted((cases.ROOT / "include").rglob("*.hpp"))]:
        digest.update(file.read_bytes())
    stamp = folder / "key"
    if stamp.is_file() and stamp.read_text() == digest.hexdigest():
        return 0
    stamp.unlink(missing_ok=True)
    for name, included in headers.items():
        (folder / name / "dimesh").mkdir(parents=True, exist_ok=True)
        source, result = folder / name / PRELUDE, folder / name / f"{includes.UMBRELLA}.gch"
        source.write_text("".join(f"#include <{header}>\n" for header in included))
        more = []
        if "clang" in compiler:
            result = folder / name / "prelude.pch"
            more = ["-fpch-instantiate-templates"]  # most of a start's time; g++ cannot
        command = [compiler, "-std=c++20", "-w", *flags, *more, "-x", "c++-header", "-o", str(result), str(source)]
        if status := subprocess.run(command, cwd=cases.ROOT).returncode:
            return status
    stamp.write_text(digest.hexdigest())
    return 0


def check(compiler: str, flags: list[str], case: cases.Case, arguments: argparse.Namespace,
          passed: dict) -> list[str]:
    """Everything that is wrong with this case on this compiler; prints the measured lengths. If it includes more
    than dimesh.hpp, with all headers precompiled first, and where that does not do, with its own."""
    if not arguments.precompiled:
        return check_with(None, compiler, flags, case, arguments, passed)
    folders = [arguments.precompiled / name for name in ("all", "plain")]
    by_itself = arguments.alone or cases.ALONE.search(case.text) or includes.is_in_umbrella(case.text)
    for folder in folders[bool(by_itself):]:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            problems = check_with(folder, compiler, flags, case, arguments, passed)
        if not problems:
            break
    print(said.getvalue(), end="")
    return problems


def check_with(precompiled: pathlib.Path | None, compiler: str, flags: list[str], case: cases.Case,
               arguments: argparse.Namespace, passed: dict) -> list[str]:
    problems = cases.malformed(case)
    half = arguments.half and not arguments.alone and not cases.of_compiler(case, compiler)
    if half and cases.ALONE.search(case.text):
        print(f"{case.name} [{compiler}]: the other compiler's")
        return problems
    if f"twin {case.name}" not in passed and not half:
        compiled, lines = cases.compile_once(compiler, flags, case, False, precompiled)
        if not compiled or lines:
            problems.append("the correct twin does not compile" if not compiled
                            else "the correct twin gives warnings")
            problems += ["    " + line for line in lines[:20]]
    if f"mistake {case.name}" in passed:
        print(passed[f"mistake {case.name}"])
        return problems
    compiled, lines = cases.compile_once(compiler, flags, case, True, precompiled)
    print(cases.measured(case, compiler, lines))
    if compiled:
        problems.append("the mistake compiles")
    else:
        problems += cases.judge(case, compiler, lines, arguments.quote)
    if arguments.verbose or problems:
        print("\n".join("    " + line for line in lines[:40]))
    return problems


def tighten(compilers: list[str], flags: list[str], source: pathlib.Path) -> None:
    """Each `// lines:` of a file becomes as low as what the compilers say lets it."""
    said = {}  # of each part with such a line: the most lines, and whether it needs more than usual
    for case in cases.cases_of(source):
        if not re.search(r"^// lines: \d+$", case.text, re.M):
            continue
        usual = dataclasses.replace(case, text=re.sub(r"^// lines: \d+$", "", case.text, flags=re.M))
        for compiler in compilers:
            count = len(cases.compile_once(compiler, flags, case, True, None)[1])
            most, more = said.get(case.part, (0, False))
            said[case.part] = max(most, count), more or count > cases.limit_of(usual, compiler)
    part, kept = "", []
    for line in source.read_text().splitlines(keepends=True):
        found = cases.MISTAKE.match(line)
        part = found[1] if found else part
        limit = re.match(r"// lines: (\d+)$", line)
        if limit and part in said:
            most, more = said[part]
            print(f"{source.stem} {part}: {limit[1]} -> {most if more else 'the usual limit'}")
            line = f"// lines: {min(most, int(limit[1]))}\n" if more else ""
        kept.append(line)
    source.write_text("".join(kept))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", action="append", help="default: g++ and clang++-19")
    parser.add_argument("--flags", type=pathlib.Path, help="file with compiler flags, quoted as in a shell")
    parser.add_argument("--precompiled", type=pathlib.Path, help="folder that --precompile filled")
    parser.add_argument("--precompile", type=pathlib.Path, help="fill this folder and end")
    parser.add_argument("--alone", action="store_true", help="compile everything, whatever batches said",
                        default=bool(os.environ.get("DIMESH_COMPILE_FAIL_ALONE")))
    parser.add_argument("--half", action="store_true", help="half of the twins, and of cases that are alone")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every message")
    parser.add_argument("--tighten", action="store_true", help="lower // lines: to what is said")
    parser.add_argument("--quote", action="store_true", help="write the messages into docs/errors")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    flags = shlex.split(arguments.flags.read_text()) if arguments.flags else default_flags()
    if arguments.precompile:
        return precompile((arguments.compiler or ["g++"])[0], flags, arguments.precompile)
    if arguments.tighten:
        for source in arguments.files:
            tighten(arguments.compiler or default_compilers(), flags, source.resolve())
        return 0
    failed = 0
    for compiler in arguments.compiler or default_compilers():
        for source in (file.resolve() for file in arguments.files):
            trusted = not (arguments.alone or arguments.verbose or arguments.quote)
            passed = verdicts.passed_together(compiler, source, arguments.precompiled) if trusted else {}
            for case in cases.cases_of(source):
                problems = check(compiler, flags, case, arguments, passed)
                for problem in problems:
                    print(f"  {case.name}: {problem}")
                failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
