#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes include/dimesh/io/data/letters.hpp: which signs Unicode calls letters, and which numbers.

  make_letters.py > include/dimesh/io/data/letters.hpp     by the Unicode that this Python knows
"""
import itertools
import textwrap
import unicodedata

HEAD = """\
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which signs are letters, which are numbers, which are spaces? As Unicode {version} has them
// (general categories L and N; White_Space): a sign that came later is none of them. Written by
// scripts/make_letters.py.
//
//   input::kind_of(U'\\u00e9')   -> sign_kind::letter
#pragma once

#include <algorithm>
#include <cstddef>

namespace dimesh::input {{

enum class sign_kind {{ other, letter, number, space }};

namespace detail {{

// Where signs begin to be of a kind, and where they end to be, in turn.
// clang-format off: a page of numbers
"""
TAIL = """\
// clang-format on

/// Is it between a beginning and its end?
template <std::size_t N> constexpr bool among(const char32_t (&turns)[N], char32_t sign) {
  return (std::upper_bound(turns, turns + N, sign) - turns) % 2 == 1;
}

}  // namespace detail

constexpr sign_kind kind_of(char32_t sign) {
  if (detail::among(detail::letter_turns, sign)) return sign_kind::letter;
  if (detail::among(detail::number_turns, sign)) return sign_kind::number;
  return detail::among(detail::spaces, sign) ? sign_kind::space : sign_kind::other;
}

}  // namespace dimesh::input
"""
SPACES = {*range(0x9, 0xE), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029,
          0x202F, 0x205F, 0x3000}


def turns(is_one) -> list[int]:
    ones = [False, *(is_one(c) for c in range(0x110000)), False]
    return [c for c, (a, b) in enumerate(itertools.pairwise(ones)) if a != b]


def table(name: str, is_one) -> str:
    numbers = ", ".join(f"{c:#x}" for c in turns(is_one))
    body = textwrap.fill(numbers, 98, initial_indent="  ", subsequent_indent="  ")
    return f"inline constexpr char32_t {name}[] = {{\n{body}}};\n"


def main() -> None:
    print(HEAD.format(version=unicodedata.unidata_version), end="")
    print(table("letter_turns", lambda c: unicodedata.category(chr(c))[0] == "L"), end="")
    print(table("number_turns", lambda c: unicodedata.category(chr(c))[0] == "N"), end="")
    print(table("spaces", lambda c: c in SPACES), end="")
    print(TAIL, end="")


main()
