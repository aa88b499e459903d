#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a mistake does not compile, and how the compiler says so.

A file has `// expect: TEXT` lines, the mistake under `#ifdef COMPILE_FAIL` and its correct twin
under `#else`. The twin must compile without a word. The mistake must give exactly one error, every
expected text, and at most 10 lines of output. `// lines: N` says otherwise, and `// levels: N` that
there are N templates of the user's, and one of the library's, between the mistake and the function
called: each may add one line on g++ and three on clang. `// also: NAME` repeats all with -DNAME.

The page docs/errors/NAME.md of a file NAME.cpp quotes what the compilers say: the error, and the
line in which g++ names the culprits. It must be what they do say; --quote writes it.

  run.py [--compiler CXX]... [--flags FILE] [--precompiled DIR] [--verbose] [--quote] FILE...
  run.py --compiler CXX [--flags FILE] --precompile DIR
"""
import argparse
import hashlib
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
ERROR = re.compile(r"(?:^|: )(?:fatal )?error: ")
PRELUDE = "precompiled_prelude.hpp"
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
    """Compiles the umbrella header into `folder`, unless that is done and nothing has changed."""
    digest = hashlib.sha256("\n".join([compiler, *flags]).encode())
    for header in sorted((ROOT / "include").rglob("*.hpp")):
        digest.update(header.read_bytes())
    stamp = folder / "key"
    if stamp.is_file() and stamp.read_text() == digest.hexdigest():
        return 0
    (folder / "dimesh").mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    source, result = ROOT / "include/dimesh/dimesh.hpp", folder / "dimesh/dimesh.hpp.gch"
    if "clang" in compiler:
        source, result = folder / PRELUDE, folder / "prelude.pch"
        source.write_text("#include <dimesh/dimesh.hpp>\n")
    done = subprocess.run([compiler, "-std=c++20", "-w", *flags, "-x", "c++-header", "-o",
                           str(result), str(source)], cwd=ROOT)
    if done.returncode == 0:
        stamp.write_text(digest.hexdigest())
    return done.returncode


def as_if_included(compiler: str, lines: list[str], source: pathlib.Path) -> list[str]:
    """The output as it is without a precompiled header. There g++ ends a list of includes with the
    main file, which it leaves out here; clang leaves out the prelude, which it names here."""
    if "clang" in compiler:
        return [line for line in lines if PRELUDE not in line]
    result, listing = [], False
    for line in lines:
        listing = listing or line.startswith("In file included from ")
        if listing and line.endswith(":"):
            result += [line[:-1] + ",", f"{'':17}from {source}:"]
            listing = False
        else:
            result.append(line)
    return result


def compile_once(compiler: str, flags: list[str], source: pathlib.Path, mistake: bool,
                 precompiled: pathlib.Path | None):
    command = [compiler, "-std=c++20", "-fsyntax-only"]
    if precompiled:
        command += (["-include-pch", str(precompiled / "prelude.pch")] if "clang" in compiler
                    else [f"-I{precompiled}"])
    command += flags
    command += ["-fno-diagnostics-color" if "clang" in compiler else "-fdiagnostics-color=never"]
    command += ["-DCOMPILE_FAIL"] if mistake else ["-Wall", "-Wextra", "-Wno-unused"]
    done = subprocess.run(command + [str(source)], capture_output=True, text=True, errors="replace",
                          cwd=ROOT)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if not TRAILER.match(line)]
    return done.returncode == 0, as_if_included(compiler, lines, source) if precompiled else lines


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


def quote_fault(lines: list[str], page: pathlib.Path, compiler: str, write: bool) -> list[str]:
    """Compares the quoted block of a page with the message; or writes the compiler's part of it."""
    text = page.read_text()
    block = re.search(r"^```text\n(.*?)^```\n", text, re.M | re.S)
    if not block:
        return ["its page in docs/errors quotes no message"]
    entries = re.sub(r"\n    ", " ", block[1]).strip().split("\n")
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


def check(compiler: str, flags: list[str], source: pathlib.Path, verbose: bool,
          precompiled: pathlib.Path | None, quote: bool = False) -> list[str]:
    """Everything that is wrong with this file on this compiler; prints the measured lengths."""
    text = source.read_text()
    expected = re.findall(r"^// expect: (.*?)\s*$", text, re.M)
    levels = number(text, "levels", 0)
    limit = number(text, "lines", 10 + (levels + 1) * (3 if "clang" in compiler else 1) if levels else 10)
    problems = []
    if not expected:
        problems.append("it has no `// expect:` line")
    if "#ifdef COMPILE_FAIL" not in text or not re.search(r"^#else", text, re.M):
        problems.append("it has no `#ifdef COMPILE_FAIL` with an `#else`")

    compiled, lines = compile_once(compiler, flags, source, False, precompiled)
    if not compiled or lines:
        problems.append("the correct twin does not compile" if not compiled
                        else "the correct twin gives warnings")
        problems += ["    " + line for line in lines[:20]]

    compiled, lines = compile_once(compiler, flags, source, True, precompiled)
    errors = [line for line in lines if ERROR.search(line)]
    longest = max((len(line) for line in lines), default=0)
    print(f"{source.stem} [{compiler}]: {len(lines)} lines (limit {limit}), {len(errors)} error(s), "
          f"longest line {longest}")
    if compiled:
        problems.append("the mistake compiles")
    else:
        if len(errors) != 1:
            problems.append(f"the mistake gives {len(errors)} errors, not one")
        if len(lines) > limit:
            problems.append(f"the message has {len(lines)} lines, more than {limit}")
        output = "\n".join(lines)
        problems += [f"the message lacks the text: {e}" for e in expected if e not in output]
        page = ROOT / "docs" / "errors" / (source.stem + ".md")
        if page.is_file() and source.parent == ROOT / "tests" / "compile_fail":
            problems += quote_fault(lines, page, compiler, quote)
    if verbose or problems:
        print("\n".join("    " + line for line in lines[:40]))
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", action="append", help="default: g++ and clang++-19")
    parser.add_argument("--flags", type=pathlib.Path, help="file with compiler flags, quoted as in a shell")
    parser.add_argument("--precompiled", type=pathlib.Path, help="folder that --precompile filled")
    parser.add_argument("--precompile", type=pathlib.Path, help="fill this folder and end")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every message")
    parser.add_argument("--quote", action="store_true", help="write the messages into docs/errors")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    flags = shlex.split(arguments.flags.read_text()) if arguments.flags else default_flags()
    if arguments.precompile:
        return precompile((arguments.compiler or ["g++"])[0], flags, arguments.precompile)
    failed = 0
    for compiler in arguments.compiler or default_compilers():
        for source in arguments.files:
            variants = [[], *([f"-D{name}"] for name in
                              re.findall(r"^// also: (\w+)", source.read_text(), re.M))]
            for variant in variants:
                problems = check(compiler, [*flags, *variant], source.resolve(),
                                 arguments.verbose, arguments.precompiled, arguments.quote)
                for problem in problems:
                    print(f"  {' '.join([source.stem, *variant])}: {problem}")
                failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
