#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes random operations on random tensors, each beside what it should compute.

  make_differential.py --seed 1 3 5 --count 20 --out cases.hpp      20 cases of each seed

Dims have small static extents or are known at run time; over a mesh of one to three axes layouts
split in blocks of any kind, hold addends, replicate or are at one place; elements are small
integers of several types. tests/mpi/differential.cpp includes the result; support/oracle.hpp
computes what is expected with plain loops. Here are sums, products and changes of layout;
differential_places.py has what cuts, joins, numbers, orders and slides along a dim. The same seed
gives the same cases.
"""
import argparse
import pathlib
import random

import differential_places

AXES = {"line": ["x"], "plane": ["x", "y"], "cube": ["x", "y", "z"]}
SHORT = ["dm::bfloat16", "dm::half"]
ELEMENTS = ["float"] * 4 + ["double"] * 4 + ["std::int32_t"] * 2 + ["std::int64_t"] + SHORT
REALS = ["float", "double"] + SHORT
DYNAMIC = ["t0", "t1"]
MOST = 4000  # elements of any array: the reference is slow


class Case:
    """What one case draws: dims, a layout for all of them, operands."""

    def __init__(self, rng: random.Random, statics: dict[str, int]):
        self.rng = rng
        self.mesh = rng.choice(["line"] * 3 + ["plane"] * 6 + ["cube"])
        self.element = rng.choice(ELEMENTS)
        names = rng.sample(sorted(statics), 5)
        if rng.random() < 0.35:
            names[rng.randrange(5)] = rng.choice(DYNAMIC)
        self.extent = {d: statics.get(d) for d in names}
        size = 1
        self.dims = []
        for d in names:  # as many as stay small
            n = self.extent[d] or 9
            if size * n <= MOST:
                self.dims.append(d)
                size *= n
        self.lines: list[str] = []
        self.arrays: list[str] = []
        self.layout = self.draw_layout(self.dims)
        self.place = self.draw_place(self.layout, 0.25)
        self.spare = [d for d in statics if d not in self.dims]  # for results
        self.extent |= {d: statics[d] for d in self.spare}
        self.count = 0
        self.title = ""

    def some(self, least: int = 0, of=None) -> list[str]:
        """A random choice of dims, in random order."""
        of = self.dims if of is None else of
        return self.rng.sample(of, self.rng.randint(min(least, len(of)), len(of)))

    def draw_layout(self, dims: list[str], even=True) -> dict[str, tuple]:
        """axis -> (dim, its level in the split, its blocks: uneven, ragged or "")"""
        blocks = {d: "uneven" if not even or self.rng.random() < 0.7 else "" for d in dims}
        axes = AXES[self.mesh][:]
        self.rng.shuffle(axes)
        layout = {}
        for level, axis in enumerate(axes):
            if dims and self.rng.random() < 0.45:
                d = self.rng.choice(dims)
                layout[axis] = (d, level, blocks[d])
        return layout

    def make_ragged(self) -> None:
        """Blocks of any lengths in one of the dims that are split."""
        held = sorted({v[0] for v in self.layout.values()})
        if held:
            d = self.rng.choice(held)
            self.layout = {a: (e, level, "ragged" if e == d else blocks)
                           for a, (e, level, blocks) in self.layout.items()}
            self.lines.append(f"const auto cuts_{d} = ragged_cuts<{d}>(g, {self.size(d)});")

    def draw_place(self, layout: dict[str, tuple], chance: float) -> dict[str, int]:
        """axis -> the one of its coordinates where tensors are"""
        free = [a for a in AXES[self.mesh] if a not in layout]
        if not free or self.rng.random() >= chance:
            return {}
        return {self.rng.choice(free): self.rng.choice([0, 0, 1])}

    def spell(self, layout: dict[str, tuple], partial=(), place=None) -> str:
        rules = []
        for d in dict.fromkeys(v[0] for v in layout.values()):
            axes = sorted((v[1], a, v[2]) for a, v in layout.items() if v[0] == d)
            name = f"dm::{axes[0][2]}<{d}>" if axes[0][2] else d
            rules.append(f"dm::split<{name}, {', '.join(a for _, a, _ in axes)}>")
        rules += [f"dm::partial<{a}>" for a in partial]
        rules += [f"dm::placed<{a}, {k}>"
                  for a, k in (self.place if place is None else place).items()]
        return f"dm::layout<{', '.join([self.mesh] + rules)}>"

    def free_axes(self) -> list[str]:
        return [a for a in AXES[self.mesh] if a not in self.layout and a not in self.place]

    def addends_over(self, chance: float) -> list[str]:
        """An axis over which an operand that is summed holds addends, or none. (Addends are too
        great for many of them to be exact in the short elements.)"""
        drawn = self.rng.random() < chance
        return self.free_axes()[:1] if drawn and self.element not in SHORT else []

    def whole_dims(self, dims: list[str]) -> list[str]:
        held = {v[0] for v in self.layout.values()}
        return [d for d in dims if d not in held]

    def size(self, d: str) -> str:
        return str(self.extent[d]) if self.extent[d] else f"n_{d}"

    def has_coordinate(self, axis: str, k: int) -> None:
        if k > 0:
            self.lines.append(f"if (g.size<{axis}>() <= {k}) return;")

    def operand(self, dims: list[str], partial=(), element=None, places_of=None) -> int:
        """Makes arrays a<k> and tensors v<k>, of places of a dim if one is named; returns k."""
        k = self.count
        self.count += 1
        element = element or self.element
        names = "{" + ", ".join(f'"{d}"' for d in dims) + "}"
        sizes = "{" + ", ".join(self.size(d) for d in dims) + "}"
        values = "signs" if element in SHORT else "numbers"
        if places_of:
            values, sizes = "places", f"{sizes}, {self.size(places_of)}"
        spelled = self.spell(self.layout, partial)
        ragged = {v[0] for v in self.layout.values() if v[2] == "ragged"}
        cuts = [f"cuts_{d}" for d in dims if d in ragged]
        self.lines += [
            f"using V{k} = dm::tensor<{', '.join([element, spelled] + dims)}>;",
            f"const array a{k} = {values}({names}, {sizes}, seed + {k});",
            f"if (!comes_out_even<dm::spec_of<V{k}>>(g, a{k}.size)) return;",
            f"const auto v{k} = scattered<V{k}>({', '.join([f'g, a{k}'] + cuts)});",
        ]
        return k

    def check(self, got: str, want: str, tolerance="") -> None:
        self.title = got
        self.lines.append(f"CHECK(agrees({got}, {want}{tolerance}));")


def quoted(dims) -> str:
    return "{" + ", ".join(f'"{d}"' for d in dims) + "}"


def einsum(c: Case) -> None:
    rng = c.rng
    a, b = c.some(2), c.some(1)
    kept = rng.choice([0.5, 0.5, 1])  # where nothing is summed, another kernel does it
    out = [d for d in dict.fromkeys(a + b) if d not in a or d not in b or rng.random() < kept]
    rng.shuffle(out)
    partial = c.addends_over(0.25)
    first = rng.random() < 0.5
    u, v = c.operand(a, partial if first else ()), c.operand(b, () if first else partial)
    c.check(f"dm::einsum<{', '.join(out)}>(v{u}, v{v})",
            f"einsum({quoted(out)}, {{a{u}, a{v}}})")


FUNCTIONS = {1: ["p * p + 2 * p", "3 - p"], 2: ["p * q - p", "2 * q + p * p"],
             3: ["p * q + r", "p - q * r + 1"]}


def mapped(c: Case) -> None:
    arity = c.rng.randint(1, 3)
    dims = [c.some(2)] + [c.some() for _ in range(arity - 1)]
    c.rng.shuffle(dims)
    everything = list(dict.fromkeys(sum(dims, [])))
    order = next((d for d in dims if len(d) == len(everything)), everything)
    k = [c.operand(d) for d in dims]
    args = "pqr"[:arity]
    formula = c.rng.choice(FUNCTIONS[arity])
    parameters = ", ".join(f"auto {x}" for x in args)
    c.lines.append(f"const auto f = []({parameters}) {{ return {formula}; }};")
    values = "const std::vector<double>& e"
    c.lines.append(f"const auto f_oracle = [f]({values}) {{ return double(f("
                   + ", ".join(f"e[{i}]" for i in range(arity)) + ")); };")
    inputs = ", ".join(f"a{i}" for i in k)
    c.check(f"dm::map(f, {', '.join(f'v{i}' for i in k)})",
            f"transpose({quoted(order)}, map(f_oracle, {{{inputs}}}))")


def arithmetic(c: Case) -> None:
    op = c.rng.choice("+-*")
    a, b = c.some(1), c.some()
    if c.rng.random() < 0.5:
        a, b = b, a
    everything = list(dict.fromkeys(a + b))
    order = next((d for d in (a, b) if len(d) == len(everything)), everything)
    partial = ()
    if op != "*" and c.rng.random() < 0.3 and set(a) == set(b):
        partial = c.free_axes()[:1]
    u, v = c.operand(a, partial), c.operand(b, partial)
    c.lines.append("const auto f = [](const std::vector<double>& e) { return e[0] " + op + " e[1]; };")
    got = f"v{u} {op} v{v}"
    if order is everything:  # no operand has all dims, which operators refuse
        got = f"dm::outer(v{u}, v{v})" if op == "*" else \
              f"dm::map([](auto s, auto t) {{ return s {op} t; }}, v{u}, v{v})"
    c.check(got, f"transpose({quoted(order)}, map(f, {{a{u}, a{v}}}))")


def reduction(c: Case) -> None:
    dims = c.some(2)
    gone = c.some(1, dims)
    kept = [d for d in dims if d not in gone]
    kind = c.rng.choice(["sum", "sum", "max", "min"] + (["mean"] if c.element in REALS else []))
    partial = c.addends_over(0.4) if kind in ("sum", "mean") else ()
    u = c.operand(dims, partial)
    over = "" if len(gone) == len(dims) and c.rng.random() < 0.5 else f"<{', '.join(gone)}>"
    got = f"dm::{kind}{over}(v{u})"
    if c.rng.random() < 0.5:
        got = f"dm::complete({got})"
    if kind == "mean":
        c.lines.append(f"array want = sum({quoted(kept)}, a{u});")
        c.lines.append("for (double& e : want.values) "
                       f"e *= double(want.count()) / double(a{u}.count());")
        c.check(got, "want", ", 2e-2" if c.element in SHORT else ", 1e-5")
    else:
        c.check(got, f"{kind}({quoted(kept)}, a{u})")


def order(c: Case) -> None:
    dims = c.some(1)
    u = c.operand(dims, c.free_axes()[:1] if c.rng.random() < 0.2 else ())
    if c.rng.random() < 0.7:
        out = c.rng.sample(dims, len(dims))
        c.check(f"dm::permute<{', '.join(out)}>(v{u})", f"transpose({quoted(out)}, a{u})")
    else:
        d = c.rng.choice(dims)
        name = f"like_{d}"
        c.check(f"dm::rename<{d}, {name}>(v{u})", f'renamed(a{u}, "{d}", "{name}")')


def movement(c: Case) -> None:
    dims = c.dims = c.some(1)
    c.layout = c.draw_layout(dims, even=False)
    c.place = c.draw_place(c.layout, 0.3)
    free, held = c.free_axes(), list(c.layout)
    ways = ["relayout", "whole"] + (["all_gather"] if held else []) \
        + (["all_reduce", "reduce_scatter", "own", "place", "reduce"] if free else []) \
        + (["send", "broadcast"] if c.place else []) \
        + (["all_to_all"] if held and len(dims) > 1 else [])
    way = c.rng.choice(ways)
    partial = []
    if way in ("all_reduce", "reduce_scatter", "reduce"):
        partial = [c.rng.choice(free)]
    elif way == "relayout" and c.rng.random() < 0.4:
        partial = free[:1]
    d = c.rng.choice(dims)
    k = c.rng.choice([0, 1])
    last = max(held, key=lambda a: c.layout[a][1], default=None)
    if way == "relayout":
        layout = c.draw_layout(dims, even=False)
        place = c.draw_place(layout, 0.25)
        for axis, at in place.items():
            c.has_coordinate(axis, at)
        call = f"relayout<{c.spell(layout, place=place)}>"
    elif way == "whole":
        call = f"whole<{d}>"
    elif way == "all_gather":
        call = f"all_gather<{last}>"
    elif way == "all_to_all":
        source = c.layout[last][0]
        to = c.rng.choice([e for e in dims if e != source])
        call = f"all_to_all<{source}, dm::uneven<{to}>, {last}>"
    elif way == "all_reduce":
        call = f"all_reduce<{partial[0]}>"
    elif way == "reduce_scatter":
        call = f"reduce_scatter<dm::uneven<{d}>, {partial[0]}>"
    elif way == "own":
        call = f"own<dm::uneven<{d}>, {c.rng.choice(free)}>"
    elif way == "broadcast":
        call = f"broadcast<{next(iter(c.place))}>"
    else:  # place, reduce, send
        possible = list(c.place) if way == "send" else partial or free
        axis = c.rng.choice(possible)
        c.has_coordinate(axis, k)
        call = f"{way}<{axis}, {k}>"
    u = c.operand(dims, partial)
    c.check(f"dm::{call}(v{u})", f"a{u}")


def cotangents(c: Case) -> None:
    """The gradient of the sum of u w z, by hand: what the others multiply."""
    c.element = c.rng.choice(["float", "double"])
    a, b = c.some(1), c.some(1)
    everything = list(dict.fromkeys(a + b))
    u, v, z = c.operand(a), c.operand(b), c.operand(everything)
    all_in_one = len(everything) in (len(a), len(b))
    product = c.rng.choice([f"dm::einsum<{', '.join(everything)}>(p, q)",
                            "p * q" if all_in_one else "dm::outer(p, q)",
                            "dm::map([](auto s, auto t) { return s * t; }, p, q)"])
    c.lines += [
        f"const auto loss = [](const auto& p, const auto& q, const auto& r) {{ "
        f"return dm::sum({product} * r); }};",
        f"const auto [value, bar] = dm::complete(dm::value_and_grad(loss, v{u})(v{v}, v{z}));",
        f"CHECK(agrees(value, einsum({{}}, {{a{u}, a{v}, a{z}}})));",
    ]
    c.check("bar", f"einsum({quoted(a)}, {{a{v}, a{z}}})")


RAGGED = [einsum, mapped, arithmetic, reduction, order, cotangents, differential_places.numbered,
          differential_places.ordered, differential_places.chosen]  # which take ragged dims, too
KINDS = ([einsum] * 6 + [mapped] * 4 + [arithmetic] * 3 + [reduction] * 5 + [order] * 2
         + [movement] * 4 + [cotangents] + differential_places.KINDS)


def written(number: str, rng: random.Random, statics: dict[str, int]) -> list[str]:
    """A test case: a function of a grid, called for every shape of the mesh."""
    c = Case(rng, statics)
    kind = rng.choice(KINDS)
    if kind in RAGGED and rng.random() < 0.2:
        c.make_ragged()
    kind(c)
    lines = [f"inline void case_{number}(const dm::grid<{c.mesh}>& g) {{",
             f"  std::uint64_t seed = {rng.randrange(1, 1 << 20)};"]
    body = ["  " + line for line in c.lines]
    for d in DYNAMIC:  # at most one of them is there
        if any(f"n_{d}" in line for line in body):
            some = [rng.choice([1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16]) for _ in range(3)]
            draws = ", ".join(map(str, some))
            body = [f"  for (const index_t n_{d} : {{{draws}}}) {{"] \
                + ["  " + line.replace(") return;", ") continue;") for line in body] \
                + ["    ++seed;", "  }"]
    title = f"{number.replace('_', '.')}: {c.title}"
    test = f'TEST_CASE("{title}") {{ for_each_grid<{c.mesh}>(case_{number}); }}'
    return lines + body + ["}", test]


def cases_of(seed: int, count: int) -> list[str]:
    """Dims and test cases of a seed, in a namespace."""
    rng = random.Random(seed)
    statics = {f"d{k}": n for k, n in enumerate(rng.sample(range(1, 17), 8))}
    extents = statics | {d: "" for d in DYNAMIC}
    lines = [f"namespace seed_{seed} {{"]
    lines += [f"struct {d} : dm::dim<{n}> {{}};\nstruct like_{d} : dm::dim<{n}> {{}};"
              for d, n in extents.items()]
    lines += [f"struct {d} : dm::dim<> {{}};" for d in differential_places.DIMS]
    for number in range(count):
        lines += written(f"{seed}_{number}", rng, statics)
    return lines + [f"}}  // namespace seed_{seed}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--count", type=int, default=60, help="cases of each seed")
    parser.add_argument("--out", type=pathlib.Path, help="a file; standard output unless given")
    arguments = parser.parse_args()
    seeds = " ".join(map(str, arguments.seed))
    lines = ["// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
             f"// Made by make_differential.py --seed {seeds} --count {arguments.count}",
             "namespace cases {"]
    for seed in arguments.seed:
        lines += cases_of(seed, arguments.count)
    text = "\n".join(lines + ["}  // namespace cases", ""])
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
