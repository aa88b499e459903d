# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which headers the cases include, and how one is reached from a file: so that all can be precompiled as
one, and what a compiler then says can be judged as if the file had included its own only."""
import functools
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
UMBRELLA = "dimesh/dimesh.hpp"
LISTED = re.compile(r"(?:In file included|                ) from ")
# The beginning of something that is said of a file; g++ tells first in what function or template.
SAID = re.compile(r"^(/\S+?):(?:\d+:\d+: (?:fatal )?(?:error|warning|note):| (?:In |At global ))")
ENTRY = {True: "In file included from {}:", False: "                 from {},"}


def includes_of(text: str) -> tuple[str, ...]:
    """The headers of the library, and of others, that a case includes."""
    return tuple(re.findall(r'^#include [<"]((?<=<).*|dimesh/.*)[>"]$', text, re.M))


@functools.cache
def included_by(header: pathlib.Path) -> tuple[str, ...]:
    """What a header always includes."""
    found, depth = [], 0
    for directive, name in re.findall(r'^ *# *(if|endif|include)\w* *(?:[<"]([^<>"]*)[>"])?', header.read_text(), re.M):
        depth += {"if": 1, "endif": -1}.get(directive, 0)
        if directive == "include" and not depth:
            found.append(name)
    return tuple(found)


@functools.cache
def resolved(name: str, folder: pathlib.Path) -> pathlib.Path | None:
    """The file, if it is one of this project's."""
    return next((file for file in (folder / name, INCLUDE / name) if file.is_file()), None)


@functools.cache
def reached(name: str) -> frozenset[str]:
    """A header and all that it includes, directly or not."""
    found, left = set(), [name]
    while left:
        if (one := left.pop()) not in found:
            found.add(one)
            file = INCLUDE / one
            left += included_by(file) if file.is_file() else ()
    return frozenset(found)


def is_in_umbrella(text: str) -> bool:
    """Does the case include nothing of this library but what dimesh.hpp includes?"""
    return not {name for name in includes_of(text) if name.startswith("dimesh/")} - reached(UMBRELLA)


def all_of(texts: list[str]) -> list[str]:
    """The headers that any of these includes: the umbrella, and then those that others include before these,
    which is where the file that includes both would find them."""
    names = {name for text in texts for name in includes_of(text)} - {UMBRELLA}
    return [UMBRELLA, *sorted(names, key=lambda name: (len(reached(name) & names), name))]


def way_to(file: pathlib.Path, source: pathlib.Path, text: str) -> list[pathlib.Path] | None:
    """The files that lead to a header, the one that includes it first, if a compiler starts at source."""
    seen = {source}

    def search(at: pathlib.Path, names: tuple[str, ...]) -> list[pathlib.Path] | None:
        for name in names:
            header = resolved(name, at.parent)
            if header == file:
                return [at]
            if header and header not in seen:
                seen.add(header)
                if found := search(header, included_by(header)):
                    return [*found, at]
        return None

    return search(source, tuple(re.findall(r'^#include [<"](.*)[>"]$', text, re.M)))


def with_lists(lines: list[str], source: pathlib.Path, text: str, compiler: str) -> list[str] | None:
    """A message without lists of includes, with those that it has where the file includes its own headers only:
    clang prints one before the error, whole; g++ one for each file that something is said of, up to what it
    has printed already. None where nobody knows how a file is included."""
    result, seen = [], set()
    for line in lines:
        said = SAID.match(line)
        file = pathlib.Path(said[1]) if said else source
        if file != source and file not in seen and not ("clang" in compiler and ": note: " in line):
            way = way_to(file, source, text)
            if way is None:
                return None
            seen.add(file)
            for i, at in enumerate(way):
                result.append(ENTRY[i == 0].format(at))
                if at in seen and "clang" not in compiler:
                    break
                seen.add(at)
        result.append(line)
    return result


def as_if_alone(lines: list[str], source: pathlib.Path, text: str, compiler: str) -> list[str] | None:
    """What a compiler says with all headers precompiled, as it says it without."""
    return with_lists([line for line in lines if not LISTED.match(line)], source, text, compiler)
