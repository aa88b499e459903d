#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what tests/unit/io/data/gpt2_byte_pairs.cpp is judged by: a small vocabulary in GPT-2's
two files, and what its tokenizer, written here anew, makes of texts. Run by hand.

  gpt2_words.py
"""
import unicodedata
from collections import Counter

LEARNED = ("the theory of the other: then they're there, don't they? It's 1999, 1999 or 2024!! "
           "l'\u00e9t\u00e9 \u00e0 l'\u00e9cole; \u00e9t\u00e9\n  the\n\n    other   the 19 ##the")
TEXTS = [
    "the other",
    "they're there, don't they? It's we've I'm she'll he'd 'tis ''s DON'T",
    "1999 2024!!  x1 ##the 19\u00b2 \u0967\u0968 \u2167\u00bd",
    " leading,  two   three\n\nlines \n the\t\tend  ",
    "l'\u00e9t\u00e9 \u00e0 l'\u00e9cole",
    "na\u00efve e\u0301 \u4f60\u597d\uff0c\u4e16\u754c \u03b1\u03b2\u03b3 \u0634\u0643\u0631 "
    "\U0001f600\U0001f601 \u00aa\u02b0",
    "a\u00a0the\u2003 the\u3000\u3000the\u0085\u2028x",
    "\u0000\u007f\u00ad the\u200bthe",
]
SPACES = {*range(0x9, 0xE), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029,
          0x202F, 0x205F, 0x3000}


def is_space(c: str) -> bool:
    return ord(c) in SPACES


def is_letter(c: str) -> bool:
    return unicodedata.category(c).startswith("L")


def is_number(c: str) -> bool:
    return unicodedata.category(c).startswith("N")


def is_sign(c: str) -> bool:
    return not (is_space(c) or is_letter(c) or is_number(c))


def words(text: str) -> list[str]:
    """The alternatives of the published pattern, one after the other."""
    found = []
    while text:
        found.append(next(w for w in alternatives(text) if w))
        text = text[len(found[-1]):]
    return found


def alternatives(text: str):
    for end in ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d"):
        if text.startswith(end):
            yield end
    for is_one in (is_letter, is_number, is_sign):
        for begin in (1, 0):
            if begin == 0 or text[0] == " ":
                n = begin
                while n < len(text) and is_one(text[n]):
                    n += 1
                if n > begin:
                    yield text[:n]
    n = 0
    while n < len(text) and is_space(text[n]):
        n += 1
    yield text if n == len(text) else text[:n - 1]
    yield text[:n]


def signs_of_bytes() -> dict[int, str]:
    seen = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in seen]
    return {b: chr(b) for b in seen} | {b: chr(256 + n) for n, b in enumerate(others)}


SIGN = signs_of_bytes()


def merged(word: list[str], pair: tuple[str, str]) -> list[str]:
    out, i = [], 0
    while i < len(word):
        two = tuple(word[i:i + 2]) == pair
        out.append("".join(word[i:i + 2]) if two else word[i])
        i += 2 if two else 1
    return out


def symbols(text: str) -> list[list[str]]:
    return [[SIGN[b] for b in w.encode()] for w in words(text)]


def learn(count: int) -> list[tuple[str, str]]:
    all_words, merges = symbols(LEARNED), []
    for _ in range(count):
        pairs = Counter(p for w in all_words for p in zip(w, w[1:]))
        best = min(pairs, key=lambda p: (-pairs[p], p))
        merges.append(best)
        all_words = [merged(w, best) for w in all_words]
    return merges


def encode(text: str, merges: list[tuple[str, str]], number: dict[str, int]) -> list[int]:
    out = []
    for word in symbols(text):
        while pairs := [p for p in zip(word, word[1:]) if p in merges]:
            word = merged(word, min(pairs, key=merges.index))
        out += [number[s] for s in word]
    return out


def literal(text: str) -> str:
    """A string of C++, a byte an escape where it is not plain."""
    plain = [32 <= b < 127 and chr(b) not in '"\\?' for b in text.encode()]
    parts = [chr(b) if p else f"\\{b:03o}" for b, p in zip(text.encode(), plain)]
    return '"' + "".join(parts) + '"'


def main() -> None:
    merges = learn(48)
    tokens = sorted(SIGN.values()) + ["".join(p) for p in merges] + ["<|endoftext|>"]
    number = {t: n for n, t in enumerate(tokens)}
    print("const char* const merges =")
    lines = ["#version: 0.2"] + [" ".join(p) for p in merges]
    print("\n".join("    " + literal(line)[:-1] + '\\n"' for line in lines) + ";")
    for text in TEXTS:
        numbers = ", ".join(map(str, encode(text, merges, number)))
        print(f"    {{{literal(text)},\n     {{{numbers}}}}},")


main()
