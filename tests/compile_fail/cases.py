# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of run.py, which tells how they are written: read from their files, compiled, and judged."""
import dataclasses
import pathlib
import re
import subprocess
import tempfile
import textwrap
import zlib

import includes

HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path(__file__).resolve().parents[2]
ERROR = re.compile(r"(?:^|: )(?:fatal )?error: ")
ALONE = re.compile(r"^// alone: ", re.M)
MISTAKE = re.compile(r"^// mistake: ([a-z0-9_]+)$", re.M)
WIDEST = 160
# What is ours in the line with the error, or in g++'s note that names the culprits.
SAID = re.compile(r"error: static assertion failed(?: due to requirement '(?P<condition>.*?)')?: (?P<sentence>.*)$"
                  r"|note: ‘(?P<evaluated>.*)’ evaluates to false$")
TYPES = re.compile(r"\b(?:layout|\w*tensor|lambda|std::\w+|shard_of)\b")  # names that are longer
TRAILER = re.compile(r"^\d+ errors? generated\.$")  # clang's count is no part of the message


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


def plugin_headers(compiler: str) -> pathlib.Path | None:
    """Where g++ has the headers for plugins, if they are installed."""
    where = subprocess.run([compiler, "-print-file-name=plugin"], capture_output=True, text=True).stdout.strip()
    headers = pathlib.Path(where) / "include"
    return headers if (headers / "gcc-plugin.h").is_file() else None


def command_of(compiler: str, flags: list[str], precompiled: pathlib.Path | None, mistake: bool) -> list[str]:
    """How a file is compiled."""
    command = [compiler, "-std=c++20", "-fsyntax-only"]
    if precompiled:
        command += (["-include-pch", str(precompiled / "prelude.pch")] if "clang" in compiler
                    else [f"-I{precompiled}"])
    command += flags + silent(compiler)
    return command + (["-DCOMPILE_FAIL"] if mistake else ["-Wall", "-Wextra", "-Wno-unused"])


def run_compiler(compiler: str, flags: list[str], precompiled: pathlib.Path | None, mistake: bool,
                 file: str) -> tuple[bool, list[str]]:
    """Whether the file compiles, and every line that the compiler says."""
    command = command_of(compiler, flags, precompiled, mistake)
    done = subprocess.run([*command, file], capture_output=True, text=True, errors="replace", cwd=ROOT)
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

def of_compiler(case: Case, compiler: str) -> bool:
    """Which half of the cases is this compiler's? By name, so that new ones move no others."""
    return zlib.crc32(case.name.encode()) % 2 == int("clang" in compiler)
