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

A compiler's start costs more than a case. So batch.py compiles all cases together first and keeps
those that pass beyond doubt in DIR/passed; what it does not vouch for is compiled alone here. A
comment `// alone: WHY` keeps a file out of batches; --alone trusts none, and has every compiler do everything.
With --half each compiler does half of the twins (what they have to show, one of them shows), and half of the
cases that no batch has. All headers are precompiled:
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
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import zlib

import includes

HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path(__file__).resolve().parents[2]
ERROR = re.compile(r"(?:^|: )(?:fatal )?error: ")
PRELUDE = "precompiled_prelude.hpp"
ALONE = re.compile(r"^// alone: ", re.M)
MISTAKE = re.compile(r"^// mistake: ([a-z0-9_]+)$", re.M)
WIDEST = 160
# What is ours in the line with the error, or in g++'s note that names the culprits.
SAID = re.compile(r"error: static assertion failed(?: due to requirement '(?P<condition>.*?)')?: (?P<sentence>.*)$"
                  r"|note: ‘(?P<evaluated>.*)’ evaluates to false$")
TYPES = re.compile(r"\b(?:layout|\w*tensor|lambda|std::\w+|shard_of)\b")  # names that are longer
TRAILER = re.compile(r"^\d+ errors? generated\.$")  # clang's count is no part of the message


def default_flags() -> list[str]:
    """Include directories where nobody passes any: the usual places of a Debian machine."""
    flags = [f"-I{ROOT / 'include'}", "-fopenmp-simd"]
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
    """Compiles the umbrella header into folder/plain, and it with all that cases include into folder/all, unless
    that is done and nothing has changed."""
    headers = {"plain": [includes.UMBRELLA],
               "all": includes.all_of([file.read_text() for file in sorted(HERE.glob("*.cpp"))], compiler)}
    digest = hashlib.sha256("\n".join([compiler, *flags, *headers["all"]]).encode())
    for file in [HERE / "run.py", HERE / "includes.py", *sorted((ROOT / "include").rglob("*.hpp"))]:
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
        if status := subprocess.run(command, cwd=ROOT).returncode:
            return status
    stamp.write_text(digest.hexdigest())
    return 0


@dataclasses.dataclass
class Case:
    """One mistake and its twin: a file, or a part of one, and what -D it gets."""
    source: pathlib.Path
    part: str  # the NAME of `// mistake: NAME`; empty where the file has one mistake
    defined: str
    text: str  # the file; other mistakes than this one are blank lines

    @property
    def name(self) -> str:
        return " ".join(filter(None, [self.source.stem, self.part, self.defined]))

    @property
    def page(self) -> pathlib.Path:
        """Where docs/errors quotes it, if anywhere."""
        folder = ROOT / "docs" / "errors" if self.source.parent == HERE else HERE / "none"
        return folder / f"{self.part or self.source.stem}.md"


def cases_of(source: pathlib.Path) -> list[Case]:
    text = source.read_text()
    starts = [found.start() for found in MISTAKE.finditer(text)]
    parts = [("", text)]
    if starts:
        blank = [re.sub(r"[^\n]", "", text[a:b]) for a, b in zip(starts, [*starts[1:], len(text)])]
        parts = [(MISTAKE.match(text, a)[1], text[:starts[0]] + "".join(blank[:i]) + text[a:b])
                 for i, (a, b) in enumerate(zip(starts, [*starts[1:], len(text)]))]
    return [Case(source, part, defined, own) for part, own in parts
            for defined in ["", *re.findall(r"^// also: (\w+)", own, re.M)]]


def silent(compiler: str) -> list[str]:
    return ["-fno-diagnostics-color" if "clang" in compiler else "-fdiagnostics-color=never"]


def run_compiler(compiler: str, flags: list[str], precompiled: pathlib.Path | None, mistake: bool,
                 file: str) -> tuple[bool, list[str]]:
    """Whether the file compiles, and every line that the compiler says."""
    command = [compiler, "-std=c++20", "-fsyntax-only"]
    if precompiled:
        command += (["-include-pch", str(precompiled / "prelude.pch")] if "clang" in compiler
                    else [f"-I{precompiled}"])
    command += flags + silent(compiler)
    command += ["-DCOMPILE_FAIL"] if mistake else ["-Wall", "-Wextra", "-Wno-unused"]
    done = subprocess.run(command + [file], capture_output=True, text=True, errors="replace", cwd=ROOT)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if not TRAILER.match(line)]
    if done.returncode not in (0, 1):  # out of memory, say: nothing that it said can be trusted
        lines.append(f"{compiler}: fatal error: it ended with status {done.returncode}")
    return done.returncode == 0, lines


def compile_once(compiler: str, flags: list[str], case: Case, mistake: bool, precompiled: pathlib.Path | None):
    """The same of a case, as it is said of the case alone. precompiled: a folder of those of precompile()."""
    own = flags + ([f"-D{case.defined}"] if case.defined else [])
    if case.part:
        with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
            file.write(f'#line 1 "{case.source}"\n{case.text}')
            file.flush()
            own += ["-iquote", str(case.source.parent)]
            compiled, lines = run_compiler(compiler, own, precompiled, mistake, file.name)
    else:
        compiled, lines = run_compiler(compiler, own, precompiled, mistake, str(case.source))
    alone = includes.as_if_alone(lines, case.source, case.text, compiler) if precompiled else lines
    return (compiled, alone) if alone is not None else compile_once(compiler, flags, case, mistake, None)


def number(text: str, word: str, default: int) -> int:
    return int((re.findall(rf"^// {word}: (\d+)", text, re.M) or [default])[0])


def quoted(lines: list[str]) -> list[str]:
    """What a page quotes of a message: without lines' numbers, and as paths are written in #include."""
    found = []
    for line in lines:
        if ERROR.search(line) or re.search(r"note: .* evaluates to false$", line):
            line = re.sub(r"\bauto:\d+", "auto", line)  # a number of the compiler's own
            line = line.replace(f"{ROOT}/", "")  # where clang saw a lambda
            found.append(re.sub(r"^\S*?include/(dimesh/[\w/]+\.hpp):\d+:\d+:", r"\1:", line))
    return found


def entries_of(block: str) -> list[str]:
    """The lines that a page quotes, as they were before they were wrapped."""
    return re.sub(r"\n    ", " ", block).strip().split("\n")


def quote_fault(lines: list[str], page: pathlib.Path, compiler: str, write: bool) -> list[str]:
    """Compares the quoted block of a page with the message; or writes the compiler's part of it."""
    text = page.read_text()
    block = re.search(r"^```text\n(.*?)^```\n", text, re.M | re.S)
    if not block:
        return ["its page in docs/errors quotes no message"]
    entries = entries_of(block[1])
    mine = quoted(lines)
    if write:
        # clang's error repeats the condition; that is how the two are told apart.
        of_clang = [e for e in entries if "due to requirement" in e]
        of_gxx = [e for e in entries if e not in of_clang]
        of_clang, of_gxx = (mine, of_gxx) if "clang" in compiler else (of_clang, mine)
        wrapped = ["\n".join(textwrap.wrap(e, 112, subsequent_indent="    ", break_long_words=False,
                                           break_on_hyphens=False)) for e in of_gxx + of_clang]
        page.write_text(text[:block.start(1)] + "\n".join(wrapped) + "\n" + text[block.end(1):])
        return []
    there = {" ".join(e.split()) for e in entries}
    return [f"its page in docs/errors does not quote this (run.py --quote): {e}" for e in mine
            if " ".join(e.split()) not in there]


def limit_of(case: Case, compiler: str) -> int:
    levels = number(case.text, "levels", 0)
    more = (levels + 1) * (3 if "clang" in compiler else 1) if levels else 0
    return number(case.text, "lines", 10 + more)


def columns_of(lines: list[str]) -> int:
    """The widest of the sentence and the names of the culprits, but for types."""
    said = [text for line in lines for found in [SAID.search(line)] if found
            for name, text in found.groupdict().items()
            if text and (name == "sentence" or not TYPES.search(text))]
    return max(map(len, said), default=0)


def measured(case: Case, compiler: str, lines: list[str]) -> str:
    errors = sum(bool(ERROR.search(line)) for line in lines)
    return (f"{case.name} [{compiler}]: {len(lines)} lines (limit {limit_of(case, compiler)}), {errors} "
            f"error(s), {columns_of(lines)} columns, longest line {max(map(len, lines), default=0)}")


def judge(case: Case, compiler: str, lines: list[str], quote: bool) -> list[str]:
    """Everything that is wrong with what a compiler says of a mistake."""
    problems = []
    errors = [line for line in lines if ERROR.search(line)]
    if len(errors) != 1:
        problems.append(f"the mistake gives {len(errors)} errors, not one")
    if len(lines) > limit_of(case, compiler):
        problems.append(f"the message has {len(lines)} lines, more than {limit_of(case, compiler)}")
    if (columns := columns_of(lines)) > (most := number(case.text, "columns", WIDEST)):
        problems.append(f"what it says has {columns} columns, more than {most}")
    output = "\n".join(lines)
    expected = re.findall(r"^// expect: (.*?)\s*$", case.text, re.M)
    problems += [f"the message lacks the text: {e}" for e in expected if e not in output]
    if case.page.is_file():
        problems += quote_fault(lines, case.page, compiler, quote)
    return problems


def malformed(case: Case) -> list[str]:
    problems = []
    if not re.search(r"^// expect: ", case.text, re.M):
        problems.append("it has no `// expect:` line")
    if "#ifdef COMPILE_FAIL" not in case.text or not re.search(r"^#else", case.text, re.M):
        problems.append("it has no `#ifdef COMPILE_FAIL` with an `#else`")
    return problems


def passed_together(compiler: str, source: pathlib.Path, precompiled: pathlib.Path | None) -> dict:
    """Which cases of a file batch.py vouches for: {"twin NAME": "", "mistake NAME": what it measured}.
    Nothing, if anything has changed since."""
    file = precompiled / "passed" / f"{source.stem}.json" if precompiled else None
    if not file or not file.is_file():
        return {}
    verdict = json.loads(file.read_text())
    return verdict["passed"] if verdict["key"] == key_of(compiler, source, precompiled) else {}


def key_of(compiler: str, source: pathlib.Path, precompiled: pathlib.Path) -> str:
    """All that a verdict depends on; the headers and flags are in the precompiled header's own key."""
    digest = hashlib.sha256(compiler.encode())
    pages = sorted({case.page for case in cases_of(source)})
    for file in [precompiled / "key", source, *sorted(HERE.glob("*.hpp")), HERE / "run.py",
                 HERE / "batch.py", *pages]:
        digest.update(file.read_bytes() if file.is_file() else b"none")
    return digest.hexdigest()


def of_compiler(case: Case, compiler: str) -> bool:
    """Which half of the cases is this compiler's? By name, so that new ones move no others."""
    return zlib.crc32(case.name.encode()) % 2 == int("clang" in compiler)


def check(compiler: str, flags: list[str], case: Case, arguments: argparse.Namespace,
          passed: dict) -> list[str]:
    """Everything that is wrong with this case on this compiler; prints the measured lengths. If it includes more
    than dimesh.hpp, with all headers precompiled first, and where that does not do, with its own."""
    if not arguments.precompiled:
        return check_with(None, compiler, flags, case, arguments, passed)
    folders = [arguments.precompiled / name for name in ("all", "plain")]
    by_itself = arguments.alone or ALONE.search(case.text) or includes.is_in_umbrella(case.text)
    for folder in folders[bool(by_itself):]:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            problems = check_with(folder, compiler, flags, case, arguments, passed)
        if not problems:
            break
    print(said.getvalue(), end="")
    return problems


def check_with(precompiled: pathlib.Path | None, compiler: str, flags: list[str], case: Case,
               arguments: argparse.Namespace, passed: dict) -> list[str]:
    problems = malformed(case)
    half = arguments.half and not arguments.alone and not of_compiler(case, compiler)
    if half and ALONE.search(case.text):
        print(f"{case.name} [{compiler}]: the other compiler's")
        return problems
    if f"twin {case.name}" not in passed and not half:
        compiled, lines = compile_once(compiler, flags, case, False, precompiled)
        if not compiled or lines:
            problems.append("the correct twin does not compile" if not compiled
                            else "the correct twin gives warnings")
            problems += ["    " + line for line in lines[:20]]
    if f"mistake {case.name}" in passed:
        print(passed[f"mistake {case.name}"])
        return problems
    compiled, lines = compile_once(compiler, flags, case, True, precompiled)
    print(measured(case, compiler, lines))
    if compiled:
        problems.append("the mistake compiles")
    else:
        problems += judge(case, compiler, lines, arguments.quote)
    if arguments.verbose or problems:
        print("\n".join("    " + line for line in lines[:40]))
    return problems


def tighten(compilers: list[str], flags: list[str], source: pathlib.Path) -> None:
    """Each `// lines:` of a file becomes as low as what the compilers say lets it."""
    said = {}  # of each part with such a line: the most lines, and whether it needs more than usual
    for case in cases_of(source):
        if not re.search(r"^// lines: \d+$", case.text, re.M):
            continue
        usual = dataclasses.replace(case, text=re.sub(r"^// lines: \d+$", "", case.text, flags=re.M))
        for compiler in compilers:
            count = len(compile_once(compiler, flags, case, True, None)[1])
            most, more = said.get(case.part, (0, False))
            said[case.part] = max(most, count), more or count > limit_of(usual, compiler)
    part, kept = "", []
    for line in source.read_text().splitlines(keepends=True):
        found = MISTAKE.match(line)
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
            passed = passed_together(compiler, source, arguments.precompiled) if trusted else {}
            for case in cases_of(source):
                problems = check(compiler, flags, case, arguments, passed)
                for problem in problems:
                    print(f"  {case.name}: {problem}")
                failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
