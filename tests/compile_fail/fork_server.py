#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Has one g++ read the headers, and a copy of the process compile each case of run.py: a start takes longer
than most cases do. Writes down in DIR/passed which of them pass beyond doubt; run.py compiles the others, and
with --alone all. A copy refuses and says what a g++ of its own would, because

- the headers are those that the cases include, precompiled; with more than a case itself includes, as in
  run.py;
- most share the names of names.hpp: those have a compiler that has read these, too, and has instantiated what
  many need (warm.hpp). All of that is right, and warned of in nothing: it is compiled by itself first;
- what waits to be instantiated when a file ends is instantiated before the copy ends. What g++ looks for
  after that (functions that nobody defines, say) it would warn of in a twin that run.py --alone compiles;
- where the process that reads the headers says anything, it vouches for nothing.

plugin/fork_server.cpp does it, compiled here. Where its headers are not installed (Debian:
gcc-12-plugin-dev), or it does not compile with them, nothing is vouched for.

  fork_server.py --compiler CXX --flags FILE --precompiled DIR [--half] FILE...
"""
import collections
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

import cases
import includes
import verdicts

PLUGIN = cases.HERE / "plugin" / "fork_server.cpp"
WARM = cases.HERE / "warm.hpp"
SHARING = re.compile(r'^#include "(?:names|deep|mistakes)\.hpp"$', re.M)
OWN_HEADERS = re.compile(r'^#include [<"]dimesh/.*$', re.M)


def plugin_of(compiler: str, folder: pathlib.Path) -> pathlib.Path | None:
    """The compiled plugin; none where its headers are not there, or are another version's."""
    plugin, headers = folder / "fork_server.so", cases.plugin_headers(compiler)
    if headers is None:
        return None
    done = subprocess.run([compiler, "-std=c++17", "-shared", "-fPIC", "-fno-rtti", "-w", f"-I{headers}",
                           "-o", str(plugin), str(PLUGIN)])
    return plugin if done.returncode == 0 else None


class Server:
    """A compiler that has read all headers: for mistakes, or for their twins, which say other flags."""

    def __init__(self, compiler: str, flags: list[str], precompiled: pathlib.Path, plugin: pathlib.Path,
                 mistake: bool, folder: pathlib.Path):
        self.compiler = compiler
        self.case, self.said, self.own = (folder / name for name in ("case.cpp", "said", "own"))
        (folder / "fork_here.hpp").touch()
        (source := folder / "served.cpp").write_text(
            f'#include <{includes.UMBRELLA}>\n#include "fork_here.hpp"\n#include "{self.case.name}"\n'
            "#pragma dimesh done\n")
        command = cases.command_of(compiler, flags, precompiled, mistake)
        with self.own.open("w") as own:
            self.process = subprocess.Popen([*command, f"-fplugin={plugin}", "-iquote", str(cases.HERE), str(source)],
                                            cwd=cases.ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=own, text=True)

    def compile(self, case: cases.Case) -> tuple[bool, list[str]] | None:
        """As cases.compile_once; None where this cannot tell."""
        defined = f"#define {case.defined} 1\n" if case.defined else ""
        self.case.write_text(f'{defined}#line 1 "{case.source}"\n{OWN_HEADERS.sub("", case.text)}')
        self.process.stdin.write(f"{self.said}\n")
        self.process.stdin.flush()
        status = self.process.stdout.readline().strip()
        if status not in ("0", "1") or self.own.read_text():
            return None
        lines = self.said.read_text(errors="replace").splitlines()
        alone = includes.as_if_alone(lines, case.source, case.text, self.compiler)
        return None if alone is None else (status == "0", alone)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_) -> None:
        self.process.stdin.close()
        self.process.wait()


def said_of_warm(compiler: str, flags: list[str], precompiled: pathlib.Path) -> list[str]:
    """What twins would be warned of, were it not instantiated before they are read."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
        file.write(f'#include <{includes.UMBRELLA}>\n#include "{WARM}"\n')
        file.flush()
        return cases.run_compiler(compiler, flags, precompiled / "all", False, file.name)[1]


def groups_of(served: list[cases.Case], precompiled: pathlib.Path) -> dict[pathlib.Path, list[cases.Case]]:
    """The cases by what is precompiled for them."""
    groups = collections.defaultdict(list)
    for case in served:
        warm = (precompiled / "warm").is_dir() and SHARING.search(case.text)
        groups[precompiled / ("warm" if warm else "all")].append(case)
    return groups


def main() -> int:
    arguments = verdicts.parser_of(__doc__).parse_args()
    compiler, precompiled = arguments.compiler, arguments.precompiled
    flags = verdicts.flags_of(arguments)
    every = [case for file in arguments.files for case in cases.cases_of(file.resolve())]
    known = {*includes.all_of([case.text for case in every])}
    served = [case for case in every
              if not cases.ALONE.search(case.text) and known.issuperset(includes.includes_of(case.text))]
    passed = verdicts.Passed(every)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plugin = plugin_of(compiler, folder)
        if plugin and (precompiled / "warm").is_dir() and (said := said_of_warm(compiler, flags, precompiled)):
            print("\n".join([f"{WARM} is to be right:", *said]))
            return 1
        groups = groups_of(served, precompiled).items() if plugin else ()
        for (headers, group), mistake in itertools.product(groups, (False, True)):
            with Server(compiler, flags, headers, plugin, mistake, folder) as server:
                for case in group:
                    if not mistake and arguments.half and not cases.of_compiler(case, compiler):
                        continue
                    compiled, lines = server.compile(case) or (mistake, ["it cannot tell"])
                    if not mistake and compiled and not lines:
                        passed.twin(case)
                    elif mistake and not compiled and not cases.judge(case, compiler, lines, False):
                        passed.mistake(case, compiler, lines)
    passed.write(compiler, precompiled)
    print(f"{compiler}: {passed}" if plugin else f"{compiler} has no headers for this plugin")
    return 0


if __name__ == "__main__":
    sys.exit(main())
