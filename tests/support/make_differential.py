#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes random operations on random tensors, each beside what it should compute.

  make_differential.py --seed 1 --count 60 --out cases.hpp

Dims have small static extents or are known at run time, layouts split, hold addends or replicate
over a mesh of one or two axes, elements are small integers of several types. tests/mpi/
differential.cpp includes the result; support/oracle.hpp computes what is expected with plain loops.
The same seed gives the same cases.
"""
import argparse
import pathlib
import random

AXES = {"line": ["x"], "plane": ["x", "y"]}
ELEMENTS = ["float", "float", "double", "double", "std::int32_t"]
DYNAMIC = ["t0", "t1"]
MOST = 4000  # elements of any array: the reference is slow


class Case:
    """What one case draws: dims, a layout for all of them, operands."""

    def __init__(self, rng: random.Random, statics: dict[str, int]):
        self.rng = rng
        self.mesh = rng.choice(["line", "plane", "plane"])
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
        self.count = 0

    def some(self, least: int = 0, of=None) -> list[str]:
        """A random choice of dims, in random order."""
        of = self.dims if of is None else of
        return self.rng.sample(of, self.rng.randint(min(least, len(of)), len(of)))

    def draw_layout(self, dims: list[str], even=True) -> dict[str, tuple]:
        """axis -> (dim, its level in the split, uneven?)"""
        uneven = {d: not even or self.rng.random() < 0.7 for d in dims}
        axes = AXES[self.mesh][:]
        self.rng.shuffle(axes)
        layout = {}
        for level, axis in enumerate(axes):
            if dims and self.rng.random() < 0.45:
                d = self.rng.choice(dims)
                layout[axis] = (d, level, uneven[d])
        return layout

    def spell(self, layout: dict[str, tuple], partial=()) -> str:
        rules = []
        for d in dict.fromkeys(v[0] for v in layout.values()):
            axes = sorted((v[1], a, v[2]) for a, v in layout.items() if v[0] == d)
            name = f"dm::uneven<{d}>" if axes[0][2] else d
            rules.append(f"dm::split<{name}, {', '.join(a for _, a, _ in axes)}>")
        rules += [f"dm::partial<{a}>" for a in partial]
        return f"dm::layout<{', '.join([self.mesh] + rules)}>"

    def free_axes(self) -> list[str]:
        return [a for a in AXES[self.mesh] if a not in self.layout]

    def operand(self, dims: list[str], partial=(), element=None) -> str:
        """Makes arrays a<k> and tensors v<k>; returns k."""
        k = self.count
        self.count += 1
        names = "{" + ", ".join(f'"{d}"' for d in dims) + "}"
        sizes = "{" + ", ".join(str(self.extent[d]) if self.extent[d] else f"n_{d}" for d in dims) + "}"
        spelled = self.spell(self.layout, partial)
        self.lines += [
            f"using V{k} = dm::tensor<{', '.join([element or self.element, spelled] + dims)}>;",
            f"const array a{k} = numbers({names}, {sizes}, seed + {k});",
            f"if (!comes_out_even<dm::spec_of<V{k}>>(g, a{k}.size)) return;",
            f"const auto v{k} = scattered<V{k}>(g, a{k});",
        ]
        return str(k)

    def check(self, got: str, want: str, tolerance="") -> None:
        self.lines.append(f"CHECK(agrees({got}, {want}{tolerance}));")


def quoted(dims) -> str:
    return "{" + ", ".join(f'"{d}"' for d in dims) + "}"


def einsum(c: Case) -> None:
    rng = c.rng
    a, b = c.some(2), c.some(1)
    kept = rng.choice([0.5, 0.5, 1])  # where nothing is summed, another kernel does it
    out = [d for d in dict.fromkeys(a + b) if d not in a or d not in b or rng.random() < kept]
    rng.shuffle(out)
    partial = c.free_axes()[:1] if rng.random() < 0.25 else ()
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
    c.lines.append("const auto f = [](" + ", ".join(f"auto {x}" for x in args) + f") {{ return {formula}; }};")
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
    partial = c.free_axes()[:1] if op != "*" and c.rng.random() < 0.3 and set(a) == set(b) else ()
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
    kind = c.rng.choice(["sum", "sum", "max", "min"] + (["mean"] if c.element[0] in "fd" else []))
    partial = c.free_axes()[:1] if kind in ("sum", "mean") and c.rng.random() < 0.4 else ()
    u = c.operand(dims, partial)
    over = "" if len(gone) == len(dims) and c.rng.random() < 0.5 else f"<{', '.join(gone)}>"
    got = f"dm::{kind}{over}(v{u})"
    if c.rng.random() < 0.5:
        got = f"dm::complete({got})"
    if kind == "mean":
        c.lines.append(f"array want = sum({quoted(kept)}, a{u});")
        c.lines.append("for (double& e : want.values) e *= double(want.count()) / double(a%s.count());" % u)
        c.check(got, "want", ", 1e-5")
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
    free, held = c.free_axes(), list(c.layout)
    ways = ["relayout", "whole"] + (["all_gather"] if held else []) \
        + (["all_reduce", "reduce_scatter", "own"] if free else [])
    way = c.rng.choice(ways)
    partial = []
    if way in ("all_reduce", "reduce_scatter"):
        partial = [c.rng.choice(free)]
    elif way == "relayout" and c.rng.random() < 0.4:
        partial = free[:1]
    u = c.operand(dims, partial)
    d = c.rng.choice(dims)
    if way == "relayout":
        call = f"relayout<{c.spell(c.draw_layout(dims, even=False))}>"
    elif way == "whole":
        call = f"whole<{d}>"
    elif way == "all_gather":
        axis = max(held, key=lambda a: c.layout[a][1])
        call = f"all_gather<{axis}>"
    elif way == "all_reduce":
        call = f"all_reduce<{partial[0]}>"
    elif way == "reduce_scatter":
        call = f"reduce_scatter<dm::uneven<{d}>, {partial[0]}>"
    else:
        call = f"own<dm::uneven<{d}>, {c.rng.choice(free)}>"
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


KINDS = ([einsum] * 6 + [mapped] * 4 + [arithmetic] * 3 + [reduction] * 5 + [order] * 2
         + [movement] * 3 + [cotangents])


def written(number: int, rng: random.Random, statics: dict[str, int]) -> list[str]:
    """A test case: a function of a grid, called for every shape of the mesh."""
    c = Case(rng, statics)
    rng.choice(KINDS)(c)
    lines = [f"inline void case_{number}(const dm::grid<{c.mesh}>& g) {{",
             f"  std::uint64_t seed = {rng.randrange(1, 1 << 20)};"]
    body = ["  " + line for line in c.lines]
    for d in DYNAMIC:  # at most one of them is there
        if any(f"n_{d}" in line for line in body):
            draws = ", ".join(str(rng.choice([1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16])) for _ in range(3))
            body = [f"  for (const index_t n_{d} : {{{draws}}}) {{"] \
                + ["  " + line.replace(") return;", ") continue;") for line in body] \
                + ["    ++seed;", "  }"]
    title = c.lines[-1].strip()[6:-2].replace('"', "'")
    return lines + body + [
        "}", f'TEST_CASE("{number}: {title}") {{ for_each_grid<{c.mesh}>(case_{number}); }}']


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--out", type=pathlib.Path, help="a file; standard output unless given")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    statics = {f"d{k}": n for k, n in enumerate(rng.sample(range(1, 17), 8))}
    extents = statics | {d: "" for d in DYNAMIC}
    lines = ["// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
             f"// Made by make_differential.py --seed {arguments.seed} --count {arguments.count}",
             "namespace cases {"]
    lines += [f"struct {d} : dm::dim<{n}> {{}};\nstruct like_{d} : dm::dim<{n}> {{}};"
              for d, n in extents.items()]
    for number in range(arguments.count):
        lines += written(number, rng, statics)
    text = "\n".join(lines + ["}  // namespace cases", ""])
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
