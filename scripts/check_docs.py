#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the documentation: every C++ snippet compiles, every link leads somewhere, every fault has
its page and its compile-fail test, and what a page calls wrong does not compile.

A snippet is a block that opens with ```cpp in README.md or docs/**/*.md. It sees
<dimesh/dimesh.hpp>, `namespace dm = dimesh`, and docs/snippets.hpp if there is one. Its leading
declarations, templates and inline functions stand at namespace scope, the rest in a function body. Its first line may say

  // not compiled: WHY     it is left out
  // continues             it goes on where the page's snippet before it ended
  // wrong: FAULT          it gives one error, which names the fault, in the words that the page quotes

  check_docs.py [--compiler CXX] [--flags FILE] [--cache DIR] [--only snippets|wrong|links|faults]
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "compile_fail"))
import cases  # noqa: E402: what compilers say is read there
import run  # noqa: E402
FENCE = re.compile(r"^```cpp[^\n]*\n(.*?)^```\s*$", re.M | re.S)
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
FAULT = re.compile(r"^\s*template\s*<[^;{]*>\s*struct\s+(\w+)\s*;", re.M)
DECLARATION = re.compile(r"\s*(?:template|struct|class|enum|namespace|using|concept|typedef|extern|"
                         r"static_assert|BOOST_HANA|inline|constexpr|static|int\s+main|(?:auto|void)\s+\w+\s*\(|"
                         r"auto\s+\w+\s*=\s*\[|const\s+auto\s+\w+\s*=\s*\[)")
WRONG = "// wrong: "
ONLY_AT_NAMESPACE_SCOPE = re.compile(r"\s*(?:template|namespace|concept|inline|int\s+main)")


class Snippet:
    def __init__(self, page: pathlib.Path, line: int, text: str):
        self.page, self.line, self.text = page, line, text
        self.first = text.split("\n", 1)[0].strip()

    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[pathlib.Path]:
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if page.is_file()]


def snippets_of(page: pathlib.Path) -> list[Snippet]:
    """The page's snippets, those that continue others completed by them."""
    text = page.read_text()
    result, before = [], ""
    for match in FENCE.finditer(text):
        snippet = Snippet(page, text.count("\n", 0, match.start()) + 1, match.group(1))
        if snippet.first.startswith(("// not compiled:", WRONG)):
            continue
        if snippet.first.startswith("// continues"):
            snippet.text = before + snippet.text
        before = snippet.text
        result.append(snippet)
    return result


def items(text: str) -> list[str]:
    """The snippet cut at its top-level semicolons and closing braces; comments stay in place."""
    found, start, depth, i = [], 0, 0, 0
    while i < len(text):
        c = text[i]
        if text.startswith("//", i):
            i = text.find("\n", i) if "\n" in text[i:] else len(text)
            continue
        if text.startswith("/*", i):
            i = text.index("*/", i) + 2
            continue
        if c == "#" and depth == 0 and not text[start:i].strip():
            i = text.find("\n", i) if "\n" in text[i:] else len(text)
            found.append(text[start:i])
            start = i
            continue
        if c == '"':
            i += 1
            while i < len(text) and text[i] != '"':
                i += 2 if text[i] == "\\" else 1
        elif c in "({[":
            depth += 1
        elif c in ")}]":
            depth -= 1
            after = text[i + 1:].lstrip()
            function = re.search(r"\)\s*(?:const\s*|noexcept\s*|->[^{;]*)*\{", text[start:i])
            if c == "}" and depth == 0 and not after.startswith((";", ",", ")", "(", ".", "}")) and (
                    function or re.match(r"\s*namespace", strip_comments(text[start:i]))):
                found.append(text[start:i + 1])
                start = i + 1
        elif c == ";" and depth == 0:
            found.append(text[start:i + 1])
            start = i + 1
        i += 1
    found.append(text[start:])
    return found


def strip_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def unit_of(snippet: Snippet, number: int) -> tuple[str, str]:
    """The includes, and the rest inside a namespace of its own with line numbers of the page."""
    includes = "".join(re.findall(r"^\s*#\s*include[^\n]*\n", snippet.text, re.M))
    text = re.sub(r"^\s*#\s*include[^\n]*$", "", snippet.text, flags=re.M)
    scope, body = [], []
    for item in items(text):
        code = strip_comments(item)
        if not code.strip():
            (body or scope).append(item)
        elif ONLY_AT_NAMESPACE_SCOPE.match(code) or (not body and DECLARATION.match(code)):
            scope.append(item)
        else:
            body.append(item)
    code = f'namespace snippet_{number} {{\n#line {snippet.line + 1} "{snippet.page.relative_to(ROOT)}"\n'
    code += "".join(scope)
    if any(strip_comments(b).strip() for b in body):
        code += "\n[[maybe_unused]] static void body() {\n" + "".join(body) + "\n}\n"
    return includes, code + "\n}\n"


class Compiler:
    def __init__(self, command: list[str], cache: pathlib.Path):
        self.command, self.cache = command, cache
        cache.mkdir(parents=True, exist_ok=True)
        prelude = "#include <dimesh/dimesh.hpp>\n#include <cmath>\n#include <iostream>\n"
        prelude += "#include <vector>\n#include <string>\n#include <boost/hana.hpp>\n"
        for header in sorted((ROOT / "include" / "dimesh").rglob("*.hpp")):
            if header.parent.name in ("io", "optim", "nn") and "zlib.h" not in header.read_text():
                prelude += f"#include <{header.relative_to(ROOT / 'include')}>\n"
        if (ROOT / "docs" / "snippets.hpp").is_file():
            prelude += f'#include "{ROOT / "docs" / "snippets.hpp"}"\n'
        prelude += "namespace dm = dimesh;\n"
        digest = hashlib.sha256((prelude + " ".join(command)).encode())
        for header in sorted((ROOT / "include").rglob("*.hpp")):
            digest.update(header.read_bytes())
        if (ROOT / "docs" / "snippets.hpp").is_file():
            digest.update((ROOT / "docs" / "snippets.hpp").read_bytes())
        self.key = digest.hexdigest()
        self.prelude = cache / "prelude.hpp"
        if not self.prelude.is_file() or self.prelude.read_text() != prelude:
            self.prelude.write_text(prelude)  # clang refuses what was compiled from an older file

    def run(self, arguments: list[str]) -> tuple[bool, str]:
        done = subprocess.run(self.command + arguments, cwd=ROOT, capture_output=True, text=True,
                              errors="replace")
        return done.returncode == 0, done.stderr

    def prepare(self) -> tuple[bool, str]:
        stamp = self.cache / "prelude.key"
        compiled = self.cache / "prelude.hpp.gch"
        if compiled.is_file() and stamp.is_file() and stamp.read_text() == self.key:
            return True, ""
        stamp.unlink(missing_ok=True)
        # What the library instantiates is done once, which is most of a start's time; g++ cannot.
        more = ["-fpch-instantiate-templates"] if "clang" in self.command[0] else []
        fine, output = self.run([*more, "-x", "c++-header", str(self.prelude), "-o", str(compiled)])
        if fine:
            stamp.write_text(self.key)
        return fine, output

    def accepts(self, code: str) -> tuple[bool, str]:
        stamp = self.cache / (hashlib.sha256((self.key + code).encode()).hexdigest() + ".ok")
        if stamp.is_file():
            return True, ""
        fine, output = self.compiled(code)
        if fine:
            stamp.touch()
        return fine, output

    def compiled(self, code: str) -> tuple[bool, str]:
        with tempfile.NamedTemporaryFile("w", suffix=".cpp", dir=self.cache) as file:
            file.write(code)
            file.flush()
            return self.run(["-fsyntax-only", "-w", "-include", str(self.prelude), file.name])


def check_page(compiler: Compiler, page: pathlib.Path) -> tuple[int, list[str]]:
    snippets = snippets_of(page)
    if not snippets:
        return 0, []
    units = [unit_of(snippet, n) for n, snippet in enumerate(snippets)]
    whole = "".join(u[0] for u in units) + "".join(u[1] for u in units)
    if compiler.accepts(whole)[0]:
        return len(snippets), []
    problems = []
    for snippet, (includes, code) in zip(snippets, units):
        fine, output = compiler.accepts(includes + code)
        if not fine:
            shown = "\n".join("    " + line for line in output.splitlines()[:12])
            problems.append(f"{snippet.where()}: the snippet does not compile\n{shown}")
    return len(snippets), problems


def check_wrong(compiler: Compiler, page: pathlib.Path) -> tuple[int, list[str]]:
    """What the page calls wrong gives one error, in the words that the page quotes."""
    text, count, problems = page.read_text(), 0, []
    quoted = re.search(r"^```text\n(.*?)^```\n", text, re.M | re.S)
    there = plain(cases.entries_of(quoted[1] if quoted else ""))
    for match in FENCE.finditer(text):
        snippet = Snippet(page, text.count("\n", 0, match.start()) + 1, match.group(1))
        if not snippet.first.startswith(WRONG):
            continue
        count += 1
        fault = snippet.first.removeprefix(WRONG)
        includes, code = unit_of(snippet, 0)
        output = compiler.compiled(includes + code)[1].replace("snippet_0::", "")
        lines = output.splitlines()
        errors = [line for line in lines if cases.ERROR.search(line)]
        if len(errors) != 1:
            problems.append(f"{snippet.where()}: this gives {len(errors)} errors, not one")
        elif fault not in output:
            problems.append(f"{snippet.where()}: the error does not name {fault}")
        elif other := plain(cases.quoted(lines)) - there:
            problems.append(f"{snippet.where()}: the page does not quote: {other.pop()}")
        else:
            continue
        problems[-1] += "".join(f"\n    {line}" for line in lines[:12])
    if page.parent.name == "errors" and page.stem != "README" and not count:
        problems.append(f"{page.relative_to(ROOT)}: no snippet `{WRONG}{page.stem}`")
    return count, problems


def plain(lines: list[str]) -> set[str]:
    """Without line breaks, and without the places in which lambdas stand."""
    return {re.sub(r"\(lambda at [^)]*\)", "(lambda)", " ".join(line.split())) for line in lines}


def check_all(arguments, check, what: str) -> list[str]:
    """check(compiler, page) of all pages."""
    flags = (shlex.split(arguments.flags.read_text()) if arguments.flags
             else run.default_flags())
    command = [arguments.compiler, "-std=c++20", "-fdiagnostics-color=never", *flags]
    compiler = Compiler(command, arguments.cache)
    fine, output = compiler.prepare()
    if not fine:
        return ["the headers do not compile\n" + "\n".join(output.splitlines()[:20])]
    problems, count = [], 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found, bad in pool.map(lambda page: check(compiler, page), pages()):
            count += found
            problems += bad
    print(f"{count} {what} in {len(pages())} pages")
    return problems


def check_links(_) -> list[str]:
    problems = []
    for page in pages():
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
        for target in LINK.findall(text):
            path = target.split("#", 1)[0]
            if re.match(r"[a-z]+:", target) or not path:
                continue
            if not (page.parent / path).exists():
                problems.append(f"{page.relative_to(ROOT)}: the link {target} leads nowhere")
    return problems


def check_faults(_) -> list[str]:
    text = (ROOT / "include" / "dimesh" / "layout" / "fault.hpp").read_text()
    public = text.split("namespace detail", 1)[0]
    problems = []
    for fault in FAULT.findall(public):
        for path in (f"tests/compile_fail/{fault}.cpp", f"docs/errors/{fault}.md"):
            if not (ROOT / path).is_file():
                problems.append(f"fault {fault}: {path} is missing")
    faults = set(FAULT.findall(text))
    for page in sorted((ROOT / "docs" / "errors").glob("*.md")):
        if page.stem not in faults | {"index", "README"}:
            problems.append(f"docs/errors/{page.name}: there is no such fault")
    return problems


def main() -> int:
    checks = {"snippets": lambda a: check_all(a, check_page, "snippets"),
              "wrong": lambda a: check_all(a, check_wrong, "wrong snippets"),
              "links": check_links, "faults": check_faults}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", type=pathlib.Path, help="file with compiler flags, quoted as in a shell")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "build" / "docs")
    parser.add_argument("--only", choices=checks)
    arguments = parser.parse_args()
    problems = [problem for name, check in checks.items() if arguments.only in (None, name)
                for problem in check(arguments)]
    print("\n".join(problems) if problems else "the documentation holds")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
