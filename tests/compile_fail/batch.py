#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Has clang compile the cases of run.py together, since each by itself reads most of what is precompiled anew, and
writes down in DIR/passed which of them pass beyond doubt. run.py compiles all others alone: a batch
refuses nothing, and what it accepts would be accepted alone, because

- each case is in a namespace of its own with copies of names.hpp and deep.hpp, so that no two share
  a type of the user's. All headers of the library are there, precompiled: that a case includes those
  that it needs, run.py --alone tells (scripts/test.sh --all). Twins share names.hpp, and so what
  they instantiate alike, but those that have a name of it for something else;
- a twin has passed when the batch that it is in compiles without a word. Whoever is mentioned in what
  the compiler says is left out, and the rest compiled again;
- a mistake has passed when the lines about it, with the list of includes that the compiler prints only
  once and without the namespace, satisfy all that run.py asks. A template that holds a failed assertion
  and has no arguments of this case others could share, and it is reported once, to whoever comes first.
  Such cases are left out, and compiled together in their order and in the other one: who is the first
  both times is the only one. sharing.txt names those that once were, to be left out at once: what is
  wrong in it costs a compilation, no more;
- a name that is a global one of some header already would be hidden by the namespace, and is declared
  once more outside; `::name` is a name of the case's own namespace.

  batch.py --compiler CXX --flags FILE --precompiled DIR [--half] [--note] FILE...
"""
import collections
import pathlib
import re
import sys

import cases
import includes
import verdicts

ROUNDS = 4
MANY = 300  # cases that are compiled together: more take longer than two times as many starts
FEW = 40  # cases that are not worth a division
FEW_SHARING = 15  # nor three starts of the compiler
NAMES, SHARED = "names.hpp", "shared_names"
KNOWN = cases.HERE / "sharing.txt"
MARK = "case_{}_"
MARKED = re.compile(r"\bcase_(\d+)_")
MARKING = re.compile(r"warning: case_(\d+)_ \[-W#pragma-messages\]")
IN_TEMPLATE = re.compile(r": note: in instantiation of ")
EXCERPT = re.compile(r"^ +(\d+ )?\| ")
GLOBAL = re.compile(r"(?<![\w>:])::(?!(?:std|dimesh|boost|Kokkos)\b)(?=[a-z])")
ALONE = re.compile(r"^// alone: |^namespace (?:dimesh|std|boost)\b|BOOST_HANA_ADAPT"
                   r"|^template <> .*\b(?:dimesh|std|boost)::|^#(?:pragma|define)", re.M)
TYPE = re.compile(r"^(?:struct|class|using) (\w+)", re.M)
VALUE = re.compile(r"^(?!(?:using|struct|class|template|namespace|static_assert)\b)(?:\w[\w:<>, *&]*|extern .*\)) "
                   r"(?!decltype\b)(\w+)(?:;| = |\{|\()", re.M)


def body_of(file: pathlib.Path, text: str, sharing: bool) -> list[str]:
    """The text without the library's headers, with those of this folder in their place; the names that most
    use are those that all of them share, where sharing."""
    lines = [f'#line 1 "{file}"']
    for at, line in enumerate(text.splitlines(), 1):
        included = re.match(r'#include "(?!dimesh/)(.*)"$', line)
        if included and included[1] == NAMES and sharing:
            lines.append(f"using namespace {SHARED};")
        elif included:
            header = file.parent / included[1]
            lines += body_of(header, header.read_text(), sharing) + [f'#line {at + 1} "{file}"']
        else:
            lines.append("" if re.match(r"#include |#pragma once", line) else line)
    return lines


class Batch:
    """Cases that are compiled together, by number."""

    def __init__(self, every: dict[int, cases.Case], compiler: str, flags: list[str], precompiled: pathlib.Path,
                 half: bool):
        self.every, self.half = every, half
        headers = dict.fromkeys(name for case in every.values() for name in includes.includes_of(case.text))
        self.headers = sorted(headers, key=lambda name: name != includes.UMBRELLA)
        self.compiler, self.flags, self.precompiled = compiler, flags, precompiled
        self.file = precompiled / "passed" / f"batch_{min(every)}.cpp"
        known = {*KNOWN.read_text().splitlines()}
        self.shares = {n for n, case in every.items() if case.name in known}

    def text(self, numbers: list[int], marks: bool) -> str:
        lines = [f"#include <{header}>" for header in self.headers]
        names = cases.HERE / NAMES
        if not marks and any(f'"{NAMES}"' in self.every[n].text for n in numbers):
            lines += [f"namespace {SHARED} {{", *body_of(names, names.read_text(), False), "}"]
        for n in numbers:
            case = self.every[n]
            if marks:
                lines.append(f'#line {n} "{self.file}"\n#pragma message "{MARK.format(n)}"')
            if case.defined:
                lines.append(f"#define {case.defined}")
            shares = not marks and not self.own_names(case.text) & self.own_names((cases.HERE / NAMES).read_text())
            body = (GLOBAL.sub(f"{MARK.format(n)}::", line) for line in body_of(case.source, case.text, shares))
            lines += [f"namespace {MARK.format(n)} {{", *body, "}"]
            if case.defined:
                lines.append(f"#undef {case.defined}")
        lines.append(f'#line 1 "{self.file}"')
        if marks:
            return "\n".join([*lines, f'#pragma message "{MARK.format(0)}"', ""])
        declared = set()  # would these names collide with a global one?
        for n in numbers:
            text = self.every[n].text
            lines.append(f'#line 1 "{self.every[n].source}"')
            for pattern, form in ((TYPE, "struct {} {{}};"), (VALUE, "extern struct case_any {};")):
                for name in pattern.findall(text):
                    if (form, name) not in declared:
                        declared.add((form, name))
                        lines.append(form.format(name))
        return "\n".join([*lines, ""])

    @staticmethod
    def own_names(text: str) -> set[str]:
        return {*TYPE.findall(text), *VALUE.findall(text)}

    def compile(self, numbers: list[int], mistake: bool) -> list[str]:
        self.file.write_text(self.text(numbers, mistake))
        flags = [*self.flags, "-ferror-limit=0"]
        return cases.run_compiler(self.compiler, flags, self.precompiled / "all", mistake,
                                str(self.file))[1]

    def mentioned(self, lines: list[str]) -> set[int]:
        text = "\n".join(lines)
        return {n for n, case in self.every.items()
                if re.search(rf"\b{MARK.format(n)}", text) or f"{case.source}:" in text}

    def at(self, lines: list[str]) -> set[int]:
        """Whose lines are mentioned: those that several mistakes of a file share are all theirs."""
        places = set(re.findall(r"(\S+?):(\d+):", "\n".join(lines)))
        return {n for n, case in self.every.items() for source, line in places
                if source == str(case.source) and (own := case.text.splitlines())[int(line) - 1:int(line)] != [""]
                and own}

    def twins(self) -> list[int]:
        left = [n for n, case in self.every.items() if not self.half or cases.of_compiler(case, self.compiler)]
        for _ in range(ROUNDS):
            lines = self.compile(left, False) if left else []
            if not lines:
                return left
            guilty = self.mentioned(lines)
            if not guilty:
                break
            left = [n for n in left if n not in guilty]
        return []

    def mistakes(self, left: list[int] | None = None) -> dict[int, list[str]]:
        """What the compiler says of each, as it would say it of this one alone. Where some cannot be told
        apart, of the two halves."""
        if left is None:
            left, sharing = [n for n in self.every if n not in self.shares], {*self.shares}
        else:
            sharing = set()
        for _ in range(ROUNDS):
            said = self.said(self.compile(left, True)) if left else {}
            shared = {n for n, blocks in said.items() if n and not all(specific(b, self.every[n]) for b in blocks)}
            if not shared and 0 not in said:
                found = {n: plain([line for b in blocks for line in b]) for n, blocks in said.items()}
                self.shares |= sharing
                return found | self.sharing([n for n in self.every if n in sharing])
            shared |= self.at([line for b in said.get(0, []) for line in b])
            if not shared & set(left):
                break  # nobody knows whom it concerns
            if sharing:  # the next ones would be those of the same file
                shared |= {n for n in left if any(self.every[m].source == self.every[n].source for m in shared)}
            sharing |= shared
            left = [n for n in left if n not in shared]
        if len(left) < FEW:
            return {}
        return self.mistakes(left[::2]) | self.mistakes(left[1::2])

    def sharing(self, left: list[int]) -> dict[int, list[str]]:
        """The same of cases that share templates with others. Whoever is the first of all to use one is told of
        it: those are compiled again, in the other order, and then the rest."""
        passed = {}
        while len(left) >= FEW_SHARING:
            said = self.said(self.compile(left, True), True)
            first = [n for n in left if n in said]
            if not first:
                break
            passed |= self.in_both_orders(first)
            left = [n for n in left if n not in said]
        return passed

    def in_both_orders(self, left: list[int]) -> dict[int, list[str]]:
        for _ in range(ROUNDS):
            both = [self.said(self.compile(some, True), True) if some else {} for some in (left, left[::-1])]
            first, last = ({first_line(b): n for n, blocks in said.items() for b in blocks} for said in both)
            odd = {n for line in {*first, *last} if first.get(line) != last.get(line)
                   for n in (first.get(line), last.get(line))}
            odd |= {n for said in both for b in said.get(0, []) for n in self.at(b)}
            if not odd:
                return {n: plain([line for b in blocks for line in b]) for n, blocks in both[0].items() if n}
            if not odd & set(left):
                break
            left = [n for n in left if n not in odd]
        return {}

    def said(self, lines: list[str], by_place: bool = False) -> dict[int, list[list[str]]]:
        """The messages of each case; those of nobody, or of several, are number 0's. Whose they are, their types
        say, or also their place."""
        found, current, excerpts = collections.defaultdict(list), None, {}
        for block in blocks_of(lines):
            block = [line for line in block if not includes.LISTED.match(line)]
            mark = MARKING.search(block[0]) if block else None
            if mark:
                current = int(mark[1])
                continue
            ids = {int(n) for n in MARKED.findall("\n".join(block))}
            ids |= {n for n in [current] if n and not ids}
            if by_place and not ids:
                ids = self.at(block)
            n = ids.pop() if len(ids) == 1 else 0
            if current and n != current:
                n = 0  # a mark is followed by its own case's messages only
            block = with_excerpt(block, excerpts)
            case = self.every.get(n)
            alone = includes.with_lists(block, case.source, case.text, self.compiler) if case else block
            found[n if alone is not None else 0].append(alone if alone is not None else block)
        return found


def blocks_of(lines: list[str]) -> list[list[str]]:
    """One for each error or warning, with the list of includes before it and its notes."""
    blocks, complete = [[]], True
    for line in lines:
        said = re.match(r"^\S+?:(?:\d+:\d+:)? (?:fatal )?(error|warning): ", line)
        if complete and (said or line.startswith("In file included from")):
            blocks.append([])
            complete = False
        complete = complete or bool(said)
        blocks[-1].append(line)
    return [b for b in blocks if b]


def with_excerpt(block: list[str], excerpts: dict[str, list[str]]) -> list[str]:
    """The compiler shows the lines of a place once, if it has two errors there one after the other."""
    at = next((i for i, line in enumerate(block) if cases.ERROR.search(line)), None)
    if at is None:
        return block
    place = block[at].split(" ")[0]
    end = at + 1
    while end < len(block) and EXCERPT.match(block[end]):
        end += 1
    if end > at + 1:
        excerpts[place] = block[at + 1:end]
    elif place in excerpts:
        block = block[:at + 1] + excerpts[place] + block[at + 1:]
    else:
        block = [*block, f"{place} error: with lines that nobody knows"]  # two errors, which none may have
    return block


def specific(block: list[str], case: cases.Case) -> bool:
    """Does it come from a template with arguments of this case only, or from the case's own lines?"""
    at = next((i for i, line in enumerate(block) if cases.ERROR.search(line)), None)
    if at is None:
        return False
    template = next((line for line in block[at + 1:] if IN_TEMPLATE.search(line)), "")
    return block[at].startswith(f"{case.source}:") or bool(MARKED.search(template))


def first_line(block: list[str]) -> str:
    """By which one knows a message again: the place of the error."""
    said = (line for line in block if cases.ERROR.search(line) or "warning: " in line)
    return next(said, block[0])  # else a note that nobody's message is before


def plain(lines: list[str]) -> list[str]:
    return [re.sub(r"\bcase_\d+_::", "", line) for line in lines]


def groups_of(every: dict[int, cases.Case]) -> list[dict[int, cases.Case]]:
    """Those that need no more than what is precompiled, some hundreds at a time, and the others."""
    known = {*includes.all_of([case.text for case in every.values()])}
    together, others = {}, {}
    for n, case in every.items():
        if not ALONE.search(case.text):
            (together if known.issuperset(includes.includes_of(case.text)) else others)[n] = case
    numbers = list(together)
    parts = -(-len(numbers) // MANY)
    groups = [{n: together[n] for n in numbers[i::parts]} for i in range(parts)]
    return [group for group in [*groups, others] if len(group) > 1]


def main() -> int:
    parser = verdicts.parser_of(__doc__)
    parser.add_argument("--note", action="store_true", help="add to sharing.txt who shares templates with others")
    arguments = parser.parse_args()
    compiler, precompiled = arguments.compiler, arguments.precompiled
    flags = verdicts.flags_of(arguments)
    (precompiled / "passed").mkdir(parents=True, exist_ok=True)
    every = dict(enumerate((case for file in arguments.files for case in cases.cases_of(file.resolve())), 1))
    passed, shares = verdicts.Passed([*every.values()]), set()
    for group in groups_of(every):
        batch = Batch(group, compiler, flags, precompiled, arguments.half)
        for n in batch.twins():
            passed.twin(group[n])
        for n, lines in batch.mistakes().items():
            if not cases.judge(group[n], compiler, lines, False):
                passed.mistake(group[n], compiler, lines)
        shares |= {group[n].name for n in batch.shares}
    if arguments.note:
        known = {*KNOWN.read_text().splitlines()} & {case.name for case in every.values()}
        KNOWN.write_text("".join(f"{name}\n" for name in sorted(known | shares)))
    passed.write(compiler, precompiled)
    print(f"{compiler}: {passed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
