# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of make_differential.py in which elements change places along a dim, or see others there:
parts of dims, joins, numbers of places, orders, running sums, windows. What is expected is computed
line by line or place by place with the plain loops of support/oracle.hpp.
"""

DIMS = ["made", "tap"]  # of results and of filters, where their extents are given at run time
ALONG = "[=](const line_values& e) { "


def quoted(dims) -> str:
    return "{" + ", ".join(f'"{d}"' for d in dims) + "}"


def replaced(dims, old: str, new: str) -> list[str]:
    return [new if d == old else d for d in dims]


def without(dims, d: str) -> list[str]:
    return [e for e in dims if e != d]


def result_dim(c, most=None) -> tuple[str, str, str]:
    """A dim for a result: its name, extent and value. A static one of at most so many elements, or
    `made`, of what the constant `count` says or, where nothing bounds it, of a few."""
    fitting = [d for d in c.spare if most is None or c.extent[d] <= most]
    if fitting and c.rng.random() < 0.5:
        d = c.rng.choice(fitting)
        return d, str(c.extent[d]), f"{d}{{}}"
    if most is None:
        c.extent["made"] = c.rng.randint(1, 9)
        return "made", str(c.extent["made"]), f"made{{{c.extent['made']}}}"
    return "made", "count", "made{count}"


def along(u: int, d: str, to: str, body: str) -> str:
    return f'along(a{u}, "{d}", "{to}", {ALONG}{body} }})'


def part(c) -> None:
    """slice, pad, flip, pick, shuffle, shift: one operand, along one of its dims."""
    rng = c.rng
    dims = c.some(1)
    d = rng.choice(dims)
    u = c.operand(dims, c.free_axes()[:1] if rng.random() < 0.2 else ())
    n, split = c.size(d), d not in c.whole_dims([d])
    far, uneven = ("_exchange", "dm::uneven<{}>") if split or rng.random() < 0.2 else ("", "{}")
    ways = ["slice"] * 3 + ["pad", "flip", "shift"] + ([] if split else ["pick", "shuffle"])
    way = rng.choice(ways)
    if way == "slice":
        step = rng.choice([1, 1, 1, 2, 3, -1, -2])
        to, count, value = result_dim(c, c.extent[d] or 0)
        quarter = f"{n} * {rng.randint(0, 3)} / 4"
        first = quarter if step > 0 else f"{n} - 1 - {quarter}"
        if count != "count":  # as many as its type says
            step = rng.choice([1, -1])
            room = c.extent[d] - c.extent[to]
            first = str(rng.randint(0, room) + (0 if step > 0 else c.extent[to] - 1))
        c.lines.append(f"const index_t first = {first};")
        if count == "count":
            last = f"({n} - first + {step - 1}) / {step}" if step > 0 else f"first / {-step} + 1"
            c.lines.append(f"const index_t count = {last};")
        c.check(f"dm::slice{far}<{d}, {uneven.format(to)}>(v{u}, first, {step}, {value})",
                along(u, d, to, f"line_values y; for (index_t k = 0; k < {count}; ++k) "
                      f"y.push_back(e[std::size_t(first + {step} * k)]); return y;"))
    elif way == "pad":
        before, behind = rng.randint(0, 3), rng.randint(0, 3)
        c.lines.append(f"const index_t count = {n} + {before + behind};")
        c.check(f"dm::pad{far}<{d}, {uneven.format('made')}>(v{u}, {before}, made{{count}})",
                along(u, d, "made", f"line_values y(std::size_t(count), 0.0); "
                      f"std::copy(e.begin(), e.end(), y.begin() + {before}); return y;"))
    elif way == "flip":
        c.check(f"dm::flip{far}<{d}>(v{u})",
                along(u, d, d, "return line_values(e.rbegin(), e.rend());"))
    elif way == "shift":
        ends = rng.choice(["periodic", "zero"])
        c.lines += [f"const index_t n = {n}, by = {rng.choice([1, -1, 2, -3, 7, -18])};"]
        inside = "i >= 0 && i < n ? e[std::size_t(i)] : 0.0" if ends == "zero" \
            else "e[std::size_t((i % n + n) % n)]"
        c.check(f"dm::shift<{d}>(v{u}, by, dm::boundary::{ends})",
                along(u, d, d, "line_values y; for (index_t k = 0; k < n; ++k) { "
                      f"const index_t i = k - by; y.push_back({inside}); }} return y;"))
    elif way == "pick":
        c.lines.append(f"const index_t at = {n} * {rng.randint(0, 3)} / 4;")
        c.check(f"dm::pick<{d}>(v{u}, at)",
                f'folded(a{u}, "{d}", {ALONG}return e[std::size_t(at)]; }})')
    else:
        c.lines.append(f"const dm::random_permutation order(dm::random_key{{seed}}, {n});")
        c.check(f"dm::shuffle<{d}>(dm::random_key{{seed}}, v{u})",
                along(u, d, d, "line_values y; for (std::size_t k = 0; k < e.size(); ++k) "
                      "y.push_back(e[std::size_t(order(index_t(k)))]); return y;"))


def join(c) -> None:
    """concat, stack, expand: more elements of the same values."""
    rng = c.rng
    dims = c.some(1)
    d = rng.choice(dims)
    other = rng.sample(dims, len(dims))
    partial = c.free_axes()[:1] if rng.random() < 0.2 else ()
    u = c.operand(dims, partial)
    way = rng.choice(["concat", "concat", "stack", "expand"])
    if way == "expand":
        to, count, value = result_dim(c)
        c.lines.append(f'const array ones = make({{"{to}"}}, {{{count}}}, '
                       "[](const auto&) { return 1.0; });")
        c.check(f"dm::expand<{to}>(v{u}, {value})",
                f"einsum({quoted([to] + dims)}, {{ones, a{u}}})")
        return
    w = c.operand(other, partial)
    if way == "stack":
        c.lines += [f"array want = a{u};",
                    'want.dims.insert(want.dims.begin(), "made");',
                    "want.size.insert(want.size.begin(), 2);",
                    f"for (const double e : transpose(a{u}.dims, a{w}).values) "
                    "want.values.push_back(e);"]
        c.check(f"dm::stack<made>(v{u}, v{w})", "want")
        return
    far, to = ("_exchange", "dm::uneven<made>") if d not in c.whole_dims([d]) else ("", "made")
    c.check(f"dm::concat{far}<{to}, {d}, {d}>(v{u}, v{w})", f'joined(a{u}, a{w}, "{d}", "made")')


def numbered(c) -> None:
    """gather, scatter_add, take, one_hot: whole numbers say the places of elements."""
    rng = c.rng
    dims = c.some(1)
    d = rng.choice(dims)
    rest = without(dims, d)
    to, count, value = result_dim(c)
    way = rng.choice(["gather", "gather", "scatter_add", "take", "one_hot"])
    if way == "gather":
        u = c.operand(dims)
        ids = rng.sample(rest + [to], len(rest) + 1)
        i = c.operand(ids, element=rng.choice(["std::int32_t", "std::int64_t"]), places_of=d)
        c.check(f"dm::gather<{d}, {to}>(v{u}, v{i})",
                f'looked_up({quoted(replaced(dims, d, to))}, a{u}, "{d}", a{i})')
    elif way == "scatter_add":
        u = c.operand(dims)
        i = c.operand(rng.sample(dims, len(dims)), element="std::int32_t", places_of=to)
        c.check(f"dm::scatter_add<{d}, {to}>(v{u}, v{i}, {value})",
                f'added_up(a{u}, "{d}", a{i}, "{to}", {count})')
    elif way == "take":
        ids = rng.sample(rest, rng.randint(0, len(rest)))
        table = [e for e in dims if e not in ids]
        u = c.operand(table)
        i = c.operand(ids, element="std::int32_t", places_of=d)
        c.check(f"dm::take<{d}>(v{u}, v{i})",
                f'looked_up({quoted(ids + without(table, d))}, a{u}, "{d}", a{i})')
    else:
        i = c.operand(dims, element="std::int32_t", places_of=to)
        c.lines += [f'const array all = make({{"{to}"}}, {{{count}}}, '
                    "[](const extents& at) { return double(at[0]); });"]
        c.check(f"dm::one_hot<{to}, {c.element}>(v{i}, {value})",
                f"map([](const auto& e) {{ return double(e[0] == e[1]); }}, {{a{i}, all}})")


SCANS = {"cumsum": "s + x", "cummax": "std::max(s, x)", "cummin": "std::min(s, x)"}


def ordered(c) -> None:
    """Running sums and extremes, orders and where extremes stand."""
    rng = c.rng
    dims = c.some(1)
    d = rng.choice(dims)
    split = d not in c.whole_dims([d])
    way = rng.choice(list(SCANS) * 2 + ["sort", "argsort", "argmax", "nth_largest"])
    partial = c.free_axes()[:1] if way == "cumsum" and rng.random() < 0.3 else ()
    u = c.operand(dims, partial)
    if way in SCANS:
        reverse, exclusive = rng.random() < 0.4, way == "cumsum" and rng.random() < 0.4
        far = "_exscan" if split or rng.random() < 0.2 else ""
        options = f"{{.exclusive = {str(exclusive).lower()}, .reverse = {str(reverse).lower()}}}"
        turn = "std::reverse(e.begin(), e.end()); " if reverse else ""
        step = "const double x = v; v = s; s += x;" if exclusive else \
            f"const double x = v; s = {SCANS[way]}; v = s;"
        first = "0.0" if way == "cumsum" else "e.empty() ? 0.0 : e[0]"
        c.check(f"dm::{way}{far}<{d}>(v{u}, {options})",
                f'along(a{u}, "{d}", "{d}", [](line_values e) {{ {turn}double s = {first}; '
                f"for (double& v : e) {{ {step} }} {turn}return e; }})")
    elif way in ("sort", "argsort"):
        down = rng.random() < 0.5
        far = "_all_to_all" if split else ""
        first, second = ("j", "i") if down else ("i", "j")
        c.check(f"dm::{way}{far}<{d}>(v{u}, dm::order::{'descending' if down else 'ascending'})",
                along(u, d, d, "line_values at(e.size()); std::iota(at.begin(), at.end(), 0.0); "
                      "std::stable_sort(at.begin(), at.end(), [&](double i, double j) { "
                      f"return e[std::size_t({first})] < e[std::size_t({second})]; }}); "
                      + ("for (double& i : at) i = e[std::size_t(i)]; " if way == "sort" else "")
                      + "return at;"))
    elif way == "argmax":
        far = "_all_gather" if split else ""
        c.check(f"dm::argmax{far}<{d}>(v{u})",
                f'folded(a{u}, "{d}", {ALONG}'
                "return double(std::max_element(e.begin(), e.end()) - e.begin()); })")
    else:
        far = "_all_gather" if split else ""
        c.lines.append(f"const index_t n = {c.size(d)} * {rng.randint(0, 3)} / 4;")
        c.check(f"dm::nth_largest{far}<{d}>(v{u}, n)",
                f'folded(a{u}, "{d}", [=](line_values e) {{ '
                "std::sort(e.begin(), e.end(), std::greater<>()); return e[std::size_t(n)]; })")


def window(c) -> None:
    """Convolutions, the greatest of windows, stencils: dims of reals that are whole, or uneven."""
    rng = c.rng
    c.element = rng.choice(["float", "double"])
    dims = c.some(1)
    even = {v[0] for v in c.layout.values() if not v[2]}
    possible = [d for d in dims if d not in even]
    if not possible:
        return ordered(c)
    d = rng.choice(possible)
    far = "_exchange" if d not in c.whole_dims([d]) or rng.random() < 0.2 else ""
    way = rng.choice(["convolution", "convolution", "max_pool", "stencil"])
    if way == "convolution":
        return convolution(c, dims, d, far)
    u = c.operand(dims)
    if way == "max_pool":
        size = rng.randint(1, 4)
        before, behind = rng.randint(0, size - 1), rng.randint(0, size - 1)
        stride = rng.randint(1, 3)
        c.lines += [f"const index_t most = {c.size(d)} + {before + behind - size};",
                    f"const index_t count = most < 0 ? 0 : most / {stride} + 1;"]
        c.check(f"dm::max_pool{far}(v{u}, dm::pool_window<{d}, made>{{.size = {size}, "
                f".stride = {stride}, .around = dm::padding{{{before}, {behind}}}}})",
                along(u, d, "made", "line_values y; for (index_t k = 0; k < count; ++k) { "
                      f"const index_t i = {stride} * k - {before}; "
                      "const auto from = e.begin() + std::max<index_t>(i, 0); "
                      f"const auto to = e.begin() + std::min<index_t>(i + {size}, e.size()); "
                      "y.push_back(*std::max_element(from, to)); } return y;"))
    else:
        wide, ends = rng.randint(1, 2), rng.choice(["periodic", "zero"])
        at = "e[std::size_t((i % n + n) % n)]" if ends == "periodic" \
            else "(i < 0 || i >= n ? 0.0 : e[std::size_t(i)])"
        c.lines += [f"const index_t n = {c.size(d)};",
                    f"const auto f = [](const auto& e) {{ return dm::at<{d}>(e, -{wide}) + "
                    f"3 * dm::at<{d}>(e, 1) - dm::at<>(e); }};"]
        c.check(f"dm::stencil(f, dm::halo_exchange<{wide}, {d}>(v{u}, dm::boundary::{ends}))",
                along(u, d, d, f"const auto see = [&](index_t i) {{ return {at}; }}; "
                      "line_values y; for (index_t k = 0; k < n; ++k) "
                      f"y.push_back(see(k - {wide}) + 3 * see(k + 1) - see(k)); return y;"))


def convolution(c, dims: list[str], d: str, far: str) -> None:
    """Other dims are in both operands (summed or kept) or in one (kept)."""
    rng = c.rng
    short = [e for e in c.spare if c.extent[e] <= 4]
    tap = rng.choice(short) if short and rng.random() < 0.5 else "tap"
    if tap == "tap":
        c.extent["tap"] = rng.randint(1, 4)
    taps = c.extent[tap]
    shared = c.some(0, without(dims, d))
    added = [e for e in c.dims if e not in dims][:1]
    kept = [e for e in shared if rng.random() < 0.4]
    out = [e for e in without(dims, d) if e not in shared or e in kept] + added + ["made"]
    rng.shuffle(out)
    stride, dilation = rng.choice([1, 1, 2, 3]), rng.choice([1, 1, 2])
    before, behind = rng.randint(0, 3), rng.randint(0, 3)
    filter_dims = [tap] + shared + added
    u, w = c.operand(dims), c.operand(rng.sample(filter_dims, len(filter_dims)))
    seen = dilation * (taps - 1) + 1
    c.lines += [f"const index_t most = {c.size(d)} + {before + behind} - {seen};",
                f"const index_t count = most < 0 ? 0 : most / {stride} + 1;"]
    c.check(f"dm::convolution{far}<{', '.join(out)}>(v{u}, v{w}, dm::window<{d}, {tap}, made>"
            f"{{{stride}, {dilation}, dm::padding{{{before}, {behind}}}}})",
            f"convolved({quoted(out)}, a{u}, a{w}, "
            f'{{{{"{d}", "{tap}", "made", {stride}, {dilation}, {before}, count}}}})')


def chosen(c) -> None:
    """select, the greater of two, other types of elements."""
    dims = c.some(1)
    u, w = c.operand(dims), c.operand(dims)
    way = c.rng.choice(["select", "maximum", "minimum", "cast"])
    if way == "cast":
        to = c.rng.choice(["float", "double", "std::int32_t", "std::int16_t", "dm::bfloat16"])
        c.check(f"dm::cast<{to}>(v{u})", f"a{u}")
    elif way == "select":
        c.check(f"dm::select(v{u} > v{w}, v{w}, v{u} + v{w})",
                "map([](const auto& e) { return e[0] > e[1] ? e[1] : e[0] + e[1]; }, "
                f"{{a{u}, a{w}}})")
    else:
        c.check(f"dm::{way}(v{u}, v{w})",
                f"map([](const auto& e) {{ return std::{way[:3]}(e[0], e[1]); }}, {{a{u}, a{w}}})")


KINDS = [part] * 4 + [join] * 2 + [numbered] * 4 + [ordered] * 4 + [window] * 4 + [chosen] * 2
