#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes gettext catalogs of made-up languages, for tests of programs that read them.

  make_catalogs.py DIR [ENDING]     DIR/{shout,back,few}/LC_MESSAGES/made_up.mo, whose sentences
                                    all end in these words
"""
import pathlib
import struct
import sys

WORDS = ["red old big two my our wet dry new hot sad shy".split(),
         "cat dog sea day sun fox hen owl ant bee".split(),
         "sings goes runs naps hums ends eats sits".split()]


def catalog(pairs: dict[str, str]) -> bytes:
    """The format of GNU gettext (its manual, section 10.3): tables of lengths and places."""
    entries = sorted((a.encode(), b.encode()) for a, b in pairs.items())
    n = len(entries)
    tables, texts = [], b""
    for side in range(2):
        for entry in entries:
            tables += [len(entry[side]), 28 + 16 * n + len(texts)]
            texts += entry[side] + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, n, 28, 28 + 8 * n, 0, 28 + 16 * n)
    return head + struct.pack(f"<{len(tables)}I", *tables) + texts


def main() -> None:
    ending = "".join(f" {word}" for word in sys.argv[2:])
    english = [f"{a} {b} {c}{ending}" for a in WORDS[0] for b in WORDS[1] for c in WORDS[2]]
    languages = {"shout": str.upper, "back": lambda s: s[::-1], "few": lambda s: s.replace("e", "\u00e4\u00e4")}
    for name, translate in languages.items():
        folder = pathlib.Path(sys.argv[1]) / name / "LC_MESSAGES"
        folder.mkdir(parents=True, exist_ok=True)
        known = english[::4] if name == "few" else english
        header = {"": "Content-Type: text/plain; charset=UTF-8\n"}
        (folder / "made_up.mo").write_bytes(catalog(header | {s: translate(s) for s in known}))


main()
