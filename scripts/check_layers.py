#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the house rules that a compiler does not: layers, cycles, sizes, licence lines, kernels,
tests.

The layers, lowest first. A header includes headers of its own layer or a lower one, never in a
circle. Headers in detail/ have no layer of their own: they stand where their highest include does.

  check_layers.py [--layers] [ROOT]    --layers prints every header with its layer and length
"""
import argparse
import pathlib
import re
import statistics
import sys

from silent_kernels import self_test, silent_kernels

# A folder's headers stand in its layer, but for those that are named; the longest name counts.
LAYERS = [
    ("L0", ["layout/fault", "layout/poison", "error", "ledger/timeline", "ledger/event",
             "core/any_argument"]),
    ("L1", ["dim", "axis", "mesh", "layout/shape"]),
    ("L2", ["layout", "layout/", "ledger/"] + [f"pipeline/{name}" for name in (
        "operation", "schedules", "zero_bubble", "bidirectional", "stale", "slices", "partition",
        "simulate", "check", "check_messages", "checked_schedule", "micro_batch",
        "recompute_plan", "revolve", "chain_plan", "two_levels", "check_plan")]),
    ("L3", ["element/", "memory/", "grid", "random", "runtime", "collective/communicator",
             "collective/ordered"]),
    ("L4", ["local/", "collective/"]),
    ("L5", ["core/", "reflect/", "tensor", "shaped", "any_tensor", "layout/layout_set", "fill",
            "create", "interop/", "random/"]),
    ("L6", ["op/"]),
    ("L7", ["grad/"]),
    ("L8", ["nn/", "optim/", "pipeline/", "strategy/", "plan/", "io/", "show/", "train/", "dimesh"]),
]
TYPE_LAYER = 2          # up to here neither Kokkos nor MPI
MAX_LINES = 300
MAX_COLUMNS = 100
MAX_MACROS = 5
MAX_AT_ROOT = 14        # what users include by hand
SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
OURS = re.compile(r'^\s*#\s*include\s*[<"]dimesh/([^>"]+)[>"]', re.M)
FOREIGN = re.compile(r'^\s*#\s*include\s*<((?:Kokkos_|mpi\.h)[^>]*)>', re.M)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
SOURCES = ("include/**/*.hpp", "tests/**/*.[ch]pp", "examples/**/*.[ch]pp",
           "benchmarks/**/*.[ch]pp", "support/**/*.[ch]pp", "src/*.cpp")
LICENSED = SOURCES + ("**/CMakeLists.txt", "cmake/*.cmake", "scripts/*", "tests/**/*.py", ".ci/run")


def layer_of(header: str) -> int | None:
    """The layer that the table gives; None for detail/ and for headers that it does not know."""
    stem = header.removesuffix(".hpp")
    fits = [(len(name), level) for level, (_, names) in enumerate(LAYERS) for name in names
            if stem == name or (name.endswith("/") and stem.startswith(name))]
    return max(fits)[1] if fits else None


class Headers:
    def __init__(self, root: pathlib.Path):
        self.root = root
        base = root / "include" / "dimesh"
        self.text = {str(p.relative_to(base)): p.read_text() for p in sorted(base.rglob("*.hpp"))}
        self.includes = {h: OURS.findall(t) for h, t in self.text.items()}
        self.levels: dict[str, int] = {}

    def level(self, header: str, seen: tuple[str, ...] = ()) -> int:
        if header in self.levels:
            return self.levels[header]
        given = layer_of(header)
        if given is None:
            given = max((self.level(i, seen + (header,)) for i in self.includes.get(header, [])
                         if i not in seen), default=0)
        self.levels[header] = given
        return given

    def reach(self, header: str) -> set[str]:
        """The header and everything that it includes, directly or not."""
        found, todo = set(), [header]
        while todo:
            current = todo.pop()
            if current not in found:
                found.add(current)
                todo += self.includes.get(current, [])
        return found

    def cycle(self) -> list[str]:
        state: dict[str, int] = {}
        path: list[str] = []

        def visit(header: str) -> list[str]:
            state[header] = 1
            path.append(header)
            for other in self.includes.get(header, []):
                if state.get(other) == 1:
                    return path[path.index(other):] + [other]
                if other not in state and (found := visit(other)):
                    return found
            state[header] = 2
            path.pop()
            return []

        for header in self.text:
            if header not in state and (found := visit(header)):
                return found
        return []


def check_includes(headers: Headers) -> list[str]:
    problems = []
    if cycle := headers.cycle():
        return ["include cycle: " + " -> ".join(cycle)]
    for header, includes in headers.includes.items():
        if layer_of(header) is None and not header.startswith("detail/"):
            problems.append(f"{header}: no layer; add it to the table in check_layers.py")
        mine = headers.level(header)
        for other in includes:
            if other not in headers.text:
                problems.append(f"{header}: includes dimesh/{other}, which does not exist")
            elif headers.level(other) > mine:
                problems.append(f"{header} ({LAYERS[mine][0]}) includes {other} "
                                f"({LAYERS[headers.level(other)][0]}), a layer above its own")
        reached = headers.reach(header)
        for left, right in (("local/", "collective/"), ("collective/", "local/")):
            if header.startswith(left):
                problems += [f"{header}: reaches {r}; {left} and {right} never meet"
                             for r in reached if r.startswith(right)]
        banned = ()
        if mine <= TYPE_LAYER and not header.startswith("detail/"):
            banned = ("Kokkos_", "mpi.h")
        elif header.startswith("local/"):
            banned = ("mpi.h",)
        for other in reached:
            for foreign in FOREIGN.findall(headers.text.get(other, "")):
                if banned and foreign.startswith(banned):
                    problems.append(f"{header}: reaches <{foreign}> through {other}")
    return problems


def asserts_without_text(text: str) -> list[int]:
    text = re.sub(r"//[^\n]*", "", text)
    lines = []
    for match in re.finditer(r"\bstatic_assert\s*\(", text):
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if '"' not in text[match.start():end]:
            lines.append(text.count("\n", 0, match.start()) + 1)
    return lines


# Where functions write elements of tensors.
KERNELS = ("local/", "op/", "core/", "nn/", "optim/", "random/", "collective/", "reflect/",
           "grad/", "pipeline/", "train/")
OPENED = re.compile(r"^(?!\s*//).*\bconst (?:dimesh::)?(?:detail::)?opened \w+;", re.M)
# A Kokkos made for other spaces of the host has no Serial.
SERIAL = re.compile(r"(?<!#ifdef KOKKOS_ENABLE_SERIAL\n)^(?!\s*//).*\bKokkos::Serial\b", re.M)


def check_headers(headers: Headers) -> list[str]:
    problems = []
    macros = set()
    root = [h for h in headers.text if "/" not in h]
    if len(root) > MAX_AT_ROOT:
        problems.append(f"{len(root)} headers in include/dimesh itself, more than {MAX_AT_ROOT}; "
                        "find the rooms of some")
    for header, text in headers.text.items():
        lines = text.count("\n")
        if lines > MAX_LINES:
            problems.append(f"{header}: {lines} lines, more than {MAX_LINES}")
        if "#pragma once" not in text:
            problems.append(f"{header}: no #pragma once")
        for line in asserts_without_text(text):
            problems.append(f"{header}:{line}: static_assert without a text")
        if header.startswith(KERNELS):
            for line in silent_kernels(text):
                problems.append(f"{header}:{line}: writes elements in a loop, and does not begin "
                                "by writes_memory (detail/writes_memory.hpp)")
            for use in OPENED.finditer(text):
                problems.append(f"{header}:{text.count(chr(10), 0, use.start()) + 1}: opened, which "
                                "compilers do not see; writes_memory opens, too")
        for use in SERIAL.finditer(text):
            problems.append(f"{header}:{text.count(chr(10), 0, use.start()) + 1}: Kokkos::Serial, "
                            "which not every Kokkos has; ask runs_as_call (local/pieces.hpp)")
        macros |= set(MACRO.findall(text))
    if len(macros) > MAX_MACROS:
        problems.append(f"{len(macros)} macros are defined, more than {MAX_MACROS}: {sorted(macros)}")
    return problems


def check_files(root: pathlib.Path) -> list[str]:
    problems = []

    def files(patterns):
        found = {p for pattern in patterns for p in root.glob(pattern) if p.is_file()}
        return sorted(p for p in found if not p.relative_to(root).parts[0].startswith("build")
                      and "__pycache__" not in p.parts)

    for path in files(SOURCES):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            # What a compiler is expected to print cannot be broken.
            if len(line) > MAX_COLUMNS and not line.startswith("// expect:"):
                problems.append(f"{path.relative_to(root)}:{number}: {len(line)} columns")
    for path in files(LICENSED):
        first = path.read_text().splitlines()[:2]
        if not any(SPDX in line for line in first):
            problems.append(f"{path.relative_to(root)}: no SPDX line at its top")
    return problems


def check_tests(headers: Headers) -> list[str]:
    """Every public header is a test's business: the test includes it by name, or it is one of the
    parts that a header so named includes (op/all_reduce.hpp brings collective/all_reduce.hpp)."""
    tests = [p for kind in ("unit", "mpi") for p in (headers.root / "tests" / kind).rglob("*.cpp")]
    named = {header for p in tests for header in OURS.findall(p.read_text())} - {"dimesh.hpp"}
    for _ in range(2):  # parts, and parts of parts
        named |= {part for header in named for part in headers.includes.get(header, [])}
    return [f"{header}: no test in tests/unit or tests/mpi includes it by name"
            for header in headers.text
            if not header.startswith("detail/") and header not in named | {"dimesh.hpp"}]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", action="store_true", help="print the headers by layer")
    parser.add_argument("root", nargs="?", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[1])
    arguments = parser.parse_args()
    self_test()
    headers = Headers(arguments.root)
    problems = check_includes(headers)
    if arguments.layers and not problems:
        for header in sorted(headers.text, key=lambda h: (headers.level(h), h)):
            print(f"{LAYERS[headers.level(header)][0]} {headers.text[header].count(chr(10)):4} {header}")
    problems += check_headers(headers) + check_files(arguments.root) + check_tests(headers)
    print("\n".join(problems))
    lengths = [text.count("\n") for text in headers.text.values()] or [0]
    print(f"{len(lengths)} headers, median {statistics.median(lengths):.0f} lines, "
          f"longest {max(lengths)}; {len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
