// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is an operation's transpose really its transpose, and does its cost say what it does? For any
// function f of tensors, recorded on a tape: with J its derivative, sum over ranks <J dx, ybar>
// must be sum over ranks <dx, xbar>, whether the addends of ybar differ from rank to rank or every
// rank holds the whole value; and the collectives that MPI saw must be those that f enters in a
// tally.
//
//   check_operation([](const auto& v) { return sum<q>(v); }, {}, {a}, x)
#pragma once

#include <census.hpp>
#include <set>

#include "dimesh/core/tracked.hpp"
#include "support/laws.hpp"

namespace test_support {

namespace detail {

/// The sum over all ranks of the products of elements: the value of a cotangent on a tangent. Along
/// an axis that one of the two holds whole, to be counted once, only the first rank counts.
inline double inner(const holding& v, const holding& w) {
  const unobserved quietly;
  bool counts = true;
  for (std::size_t a = 0; a < v.coords.size(); ++a)
    if ((v.once | w.once) >> a & 1u) counts = counts && v.coords[a] == 0;
  double s = 0;
  const std::vector<char> of_v = v.elements(), of_w = w.elements();
  for (index_t k = 0; counts && k < v.local_size; ++k)
    s += v.load(of_v.data() + k * v.element_bytes) * w.load(of_w.data() + k * w.element_bytes);
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, v.ranks);
  return s;
}

inline array moved(const array& a, const array& by, double h) {
  array b = a;
  for (std::size_t k = 0; k < b.values.size(); ++k) b.values[k] += h * by.values[k];
  return b;
}

/// What MPI saw on this rank, beside what the tally foresees for the rank at the origin; other
/// ranks make no more calls, and fewer where their group holds no elements.
inline std::string misjudged(const census::counts& seen, const dimesh::detail::tally& foreseen,
                             bool origin) {
  std::ostringstream what;
  if (seen.calls_on(0) != 0) what << "collectives on communicators of unknown axes; ";
  for (unsigned axes = 1; axes < foreseen.over.size(); ++axes) {
    const dimesh::traffic& t = foreseen.over[axes];
    const auto calls = seen.calls_on(axes), bytes = seen.bytes_on(axes);
    if (origin ? calls != t.calls || bytes != t.bytes : calls > t.calls)
      what << "over axes " << axes << " MPI saw " << calls << " calls, " << bytes
           << " bytes, foreseen were " << t.calls << " calls, " << t.bytes << " bytes; ";
  }
  return what.str();
}

/// Arithmetic or a message: no memory that comes or goes.
inline bool is_work(const dimesh::event& e) {
  return e.kind == dimesh::event_kind::compute || is_communication(e.kind);
}

/// Do events sum to the tally that sent them? And what is wrong if they do not.
inline std::string missummed(const dimesh::event_list& list, const dimesh::detail::tally& t) {
  dimesh::detail::tally sum;
  for (const dimesh::event& e : list.events) sum.enter(e);
  std::ostringstream what;
  if (sum.flops != t.flops || sum.moved != t.moved)
    what << "events of " << sum.flops << " flops, " << sum.moved << " bytes moved, not " << t.flops
         << ", " << t.moved << "; ";
  if (sum.live != t.live || sum.peak != t.peak)
    what << "events leave " << sum.live << " of " << sum.peak << " bytes alive, not " << t.live
         << " of " << t.peak << "; ";
  if (sum.over != t.over) what << "events of other messages than the ledger's; ";
  for (const dimesh::event& e : list.events) {
    if (is_work(e) && e.what.empty()) what << "an event of no operation; ";
    if (e.kind == dimesh::event_kind::collective) what << e.what << " sends without a kind; ";
  }
  return what.str();
}

/// Events of the way back say so, those of the way there do not. All, and the first of them.
inline std::string unmarked(const dimesh::event_list& all, const dimesh::event_list& forward) {
  std::ostringstream what;
  for (std::size_t i = 0; i < all.events.size(); ++i) {
    const dimesh::event& e = all.events[i];
    if (is_work(e) && e.backward() != (i >= forward.events.size()))
      what << e.what << " is on the wrong way; ";
  }
  return what.str();
}

/// What a call on data reported, beside what MPI saw of it: the same messages, of the same kinds;
/// and on the rank at the origin the arithmetic that shapes foresee.
inline std::string misreported(const dimesh::event_list& list, const census::counts& seen,
                               const dimesh::detail::tally& foreseen, bool origin) {
  using dimesh::event_kind;
  census::counts told;
  dimesh::index_t flops = 0, moved = 0;
  for (const dimesh::event& e : list.events) {
    flops += e.flops, moved += e.moved;
    if (!is_communication(e.kind) || e.part == dimesh::event_part::finish) continue;
    const auto op = e.kind == event_kind::all_reduce       ? census::operation::all_reduce
                    : e.kind == event_kind::reduce_scatter ? census::operation::reduce_scatter
                    : e.kind == event_kind::all_gather     ? census::operation::all_gather
                    : e.kind == event_kind::all_to_all     ? census::operation::all_to_all
                    : e.kind == event_kind::broadcast      ? census::operation::broadcast
                    : e.kind == event_kind::reduce         ? census::operation::reduce
                    : e.kind == event_kind::scan           ? census::operation::scan
                                                           : census::operation::send;
    auto& t = told.entries[{op, e.axes}];
    t.calls += 1, t.bytes += e.bytes;
  }
  std::ostringstream what;
  if (!(told == seen)) what << "MPI saw\n" << seen << "reported was\n" << told;
  if (origin && (flops != foreseen.flops || moved != foreseen.moved))
    what << "reported were " << flops << " flops, " << moved << " bytes moved, foreseen "
         << foreseen.flops << ", " << foreseen.moved << "; ";
  return what.str();
}

/// The cost is that of this rank, where tensors live at different places.
inline void sit_on(dimesh::detail::tally& t, const dimesh::detail::grid_state& g) {
  std::copy_n(g.coords(), t.seat.size(), t.seat.begin());
}

template <class X> using shape_twin = typename dimesh::detail::shaped_type<X>::type;

using dimesh::detail::tensor_core;

/// A shape with the extents and blocks of x, whose bytes are alive on a tally.
inline tensor_core shape_below(const tensor_core& x, dimesh::detail::tally* t) {
  tensor_core s(x.facts);
  s.cuts = x.cuts;
  s.make_shape(x.sizes(), x.runs.extents(), t);
  s.once = x.once;
  return s;
}
template <class X> shape_twin<X> shape_of(const X& x, dimesh::detail::tally* t) {
  return shape_twin<X>(shape_below(dimesh::detail::core_of(x), t));
}

/// Memory of its own for a tensor with the facts given, and extents and cuts of another.
inline tensor_core fresh_like(const dimesh::detail::tensor_facts* facts, const tensor_core& x,
                              unsigned once) {
  tensor_core y(facts);
  y.cuts = x.cuts;
  y.make_on(x.grid_object, *x.grid, x.runs.extents(), {});
  y.once = once;
  return y;
}

/// Recorded from now on, as dimesh::detail::recorded_on does of what has a type.
inline dimesh::detail::variable_node* record(dimesh::detail::tape& t, tensor_core& x) {
  auto* const variable = t.add<dimesh::detail::variable_node>();
  variable->on = &t;
  variable->outer = x.record;
  x.record = variable;
  return variable;
}

/// A recorded operand and the place where its cotangent arrives.
template <class X> struct leaf {
  dimesh::tracked_tensor<X> tracked;
  dimesh::detail::variable_node* node = nullptr;
  /// What has arrived.
  auto bar() const { return typename dimesh::detail::gradient_type<X>::type(node->bar); }
  leaf(dimesh::detail::tape& t, const X& x)
      : tracked(dimesh::detail::recorded_on(t, x)),
        node(static_cast<dimesh::detail::variable_node*>(tracked.cell())) {}
};

/// An operation on some operands without its types: a test makes hundreds, and whatever has the
/// types is compiled for each. What is given and returned is what lies below the tensors.
struct operation {
  using call = tensor_core (*)(const void* f, const tensor_core* x);
  const void* f;
  std::vector<tensor_core> x;
  std::vector<element_access> elements;  // of the operands,
  element_access of_result;  // and of what comes of them
  call values, recorded, recorded_shapes;

  tensor_core on_values(const tensor_core* at) const { return values(f, at); }
  tensor_core on_tape(const tensor_core* at) const { return recorded(f, at); }
  tensor_core on_shapes(const tensor_core* at) const { return recorded_shapes(f, at); }
};

template <class F, class... X> struct typed_call {
  template <std::size_t... I>
  [[gnu::always_inline]] static tensor_core with(std::index_sequence<I...>, const void* f,
                                                 const tensor_core* at) {
    return dimesh::detail::core_of((*static_cast<const F*>(f))(X(at[I])...));
  }
  static tensor_core run(const void* f, const tensor_core* at) {
    return with(std::index_sequence_for<X...>{}, f, at);
  }
};

/// f, which must outlive it, on operands.
template <class F, class... X> operation operation_on(const F& f, const X&... x) {
  using result = std::invoke_result_t<const F&, const X&...>;
  return {&f,
          {dimesh::detail::core_of(x)...},
          {elements_of<typename X::value_type>...},
          elements_of<typename result::value_type>,
          typed_call<F, X...>::run,
          typed_call<F, dimesh::tracked_tensor<X>...>::run,
          typed_call<F, dimesh::tracked_tensor<shape_twin<X>>...>::run};
}

/// A tensor like x with the values of a + h da.
inline tensor_core filled_like(const tensor_core& x, const element_access& e, const array& a,
                               const array& da, double h) {
  tensor_core y = fresh_like(x.facts, x, x.once);
  scatter(moved(a, da, h), holding_of(y, e));
  return y;
}

/// The gradient that has arrived at an operand, on a tangent.
inline double along(const tensor_core& x, const dimesh::detail::variable_node& node,
                    const element_access& e, const array& tangent) {
  if (!node.filled) return 0;
  const tensor_core dx = fresh_like(x.facts, x, 0);
  scatter(tangent, holding_of(dx, e));
  return inner(holding_of(dx, e), holding_of(node.bar, e));
}

}  // namespace detail

/// The cost of f(x...) as MPI saw it and as shapes foresee it; no text where they agree.
/// Collective.
template <class F, class... X> verdict costs_as_foreseen(const F& f, const X&... x) {
  dimesh::event_list done, ahead;
  census::reset();
  {
    const dimesh::watch all(done);
    [[maybe_unused]] const auto y = f(x...);
  }
  const auto seen = census::snapshot();
  dimesh::detail::tally foreseen;
  detail::sit_on(foreseen, std::get<0>(std::tie(x...)).grid().state());
  foreseen.sink = &ahead;
  { [[maybe_unused]] const auto y = f(detail::shape_of(x, &foreseen)...); }
  const bool origin = std::get<0>(std::tie(x...)).grid().rank() == 0;
  return {detail::misjudged(seen, foreseen, origin) + detail::missummed(ahead, foreseen) +
          detail::misreported(done, seen, foreseen, origin)};
}

/// How to differentiate numerically: exact for polynomials up to second order in integers.
struct precision {
  double step = 1, tolerance = 1e-12;
};
inline constexpr precision smooth{1e-4, 1e-6};

struct operation_report {
  double tangent = 0, cotangent = 0;  // of the two inner products
  unsigned partial = 0;  // axes along which the seed is a sum
  std::string forward, backward;  // what the census says
};

namespace detail {

/// The way there and back on shapes: what it costs, beside what MPI saw of both.
inline void run_on_shapes(const operation& f, const tensor_core& ybar,
                          const census::counts& forward, const census::counts& backward,
                          operation_report& report) {
  namespace dd = dimesh::detail;
  dd::tally ahead, back;
  dimesh::event_list events, forward_events;
  ahead.sink = &events;
  const dd::grid_state& grid = *f.x[0].grid;
  sit_on(ahead, grid);
  const bool origin = std::all_of(grid.coords(), grid.coords() + f.x[0].layout().axes,
                                  [](index_t c) { return c == 0; });
  dd::tape t;
  std::vector<tensor_core> shapes;
  for (const tensor_core& x : f.x) {
    shapes.push_back(shape_below(x, &ahead));
    record(t, shapes.back());
  }
  dd::node_base* const start = t.last();
  const tensor_core y = f.on_shapes(shapes.data());
  back = ahead;
  forward_events = events;
  y.record->add(shape_below(ybar, &ahead));
  t.backward(start);
  report.backward = missummed(events, ahead) + unmarked(events, forward_events);
  std::swap(ahead, back);
  for (std::size_t m = 0; m < back.over.size(); ++m) {
    back.over[m].bytes -= ahead.over[m].bytes;
    back.over[m].calls -= ahead.over[m].calls;
  }
  report.forward = misjudged(forward, ahead, origin);
  report.backward += misjudged(backward, back, origin);
}

inline operation_report run_adjoint(const operation& f, unsigned once, double step,
                                    const std::vector<array>& a) {
  namespace dd = dimesh::detail;
  operation_report report;
  std::vector<array> da;
  for (const array& one : a) da.push_back(numbers(one.dims, one.size, 77 + da.size()));

  dd::tape t;
  std::vector<tensor_core> leaves = f.x;
  std::vector<dd::variable_node*> nodes;
  for (tensor_core& x : leaves) nodes.push_back(record(t, x));
  dd::node_base* const until = t.last();
  census::reset();
  const tensor_core y = f.on_tape(leaves.data());
  const auto forward = census::snapshot();
  // Of another mesh, perhaps.
  report.partial = y.facts->dual->layout.mask(dimesh::use::partial);
  const tensor_core ybar = fresh_like(y.facts->dual, y, once & report.partial);
  scatter(numbers_like(ybar, 5), holding_of(ybar, f.of_result));
  y.record->add(ybar);
  census::reset();
  t.backward(until);
  run_on_shapes(f, ybar, forward, census::snapshot(), report);

  const auto value = [&](double h) {
    const unobserved quietly;
    std::vector<tensor_core> at;
    for (std::size_t k = 0; k < f.x.size(); ++k)
      at.push_back(filled_like(f.x[k], f.elements[k], a[k], da[k], h));
    return inner(holding_of(f.on_values(at.data()), f.of_result), holding_of(ybar, f.of_result));
  };
  report.tangent = (value(step) - value(-step)) / (2 * step);
  for (std::size_t k = 0; k < f.x.size(); ++k)
    report.cotangent += along(f.x[k], *nodes[k], f.elements[k], da[k]);
  return report;
}

/// Checks with seeds held whole along no axis, along all of the axes that hold addends, along the
/// first of them.
inline void check_operation(const operation& f, const precision& p, const std::vector<array>& a) {
  const auto check = [&](unsigned once) {
    const operation_report r = run_adjoint(f, once, p.step, a);
    const note axes("cotangents held whole along axes ", once);
    CHECK(std::abs(r.tangent - r.cotangent) <= p.tolerance * std::max(1.0, std::abs(r.tangent)));
    const note products("<J dx, ybar> = ", r.tangent, ", <dx, xbar> = ", r.cotangent);
    CHECK(r.forward == "");
    CHECK(r.backward == "");
    return r.partial;
  };
  const unsigned partial = check(0);
  if (const unsigned first = partial & (~partial + 1); first != 0) {
    check(first);
    if (first != partial) check(partial);
  }
}

}  // namespace detail

/// Runs f(x...) backwards with a ybar whose addends differ (or every rank holds the whole: `once`),
/// and compares with the numerical derivative at the arrays a... in the direction of other arrays.
template <class F, class... X>
operation_report run_adjoint(const F& f, unsigned once, double step, const std::vector<array>& a,
                             const X&... x) {
  return detail::run_adjoint(detail::operation_on(f, x...), once, step, a);
}

/// Checks the adjoint and the cost of f at x...; a: the operands as whole arrays. Collective.
template <class F, class... X>
void check_operation(const F& f, const precision& p, const std::vector<array>& a, const X&... x) {
  detail::check_operation(detail::operation_on(f, x...), p, a);
}

}  // namespace test_support
