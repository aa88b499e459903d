#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Is a language drawn as often as its number of pairs to the power 1 / temperature says?

  check_languages.py FILE TEMPERATURE [COMPARISON]    FILE: languages.txt of examples/multilingual

And are its models of equal compute, to a part in a hundred, where COMPARISON (comparison.txt) says?
"""
import re
import sys


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as lines:
        rows = re.findall(r"^(\w+) +([\d,]+) +([\d.]+) ", lines.read(), re.MULTILINE)
    pairs = [int(n.replace(",", "")) for _, n, _ in rows]
    if len(set(pairs)) < 2:
        sys.exit(f"check_languages: languages of different sizes are wanted, not {rows}")
    powers = [n ** (1 / float(sys.argv[2])) for n in pairs]
    for (name, _, said), power in zip(rows, powers):
        wanted = 100 * power / sum(powers)
        print(f"{name}: {said} % drawn, {wanted:.3f} % wanted")
        if abs(float(said) - wanted) > 0.006:
            sys.exit(f"check_languages: '{name}' has another chance")
    if len(sys.argv) > 3:
        with open(sys.argv[3], encoding="utf-8") as lines:
            apart = re.search(r"are ([\d.]+) % apart", lines.read())
        if apart is None or float(apart.group(1)) > 1:
            sys.exit(f"check_languages: models of other compute: {apart and apart.group(0)}")


main()
