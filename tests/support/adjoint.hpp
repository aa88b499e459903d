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
  for (index_t k = 0; counts && k < v.local_size; ++k)
    s += v.load(v.at(static_cast<std::size_t>(k))) * w.load(w.at(static_cast<std::size_t>(k)));
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

template <class X> shape_twin<X> shape_of(const X& x, dimesh::detail::tally* t) {
  dimesh::mesh_sizes<typename X::mesh_type> sizes;
  for (int a = 0; a < X::mesh_type::rank; ++a)
    sizes.size[static_cast<std::size_t>(a)] = x.grid().state().sizes()[a];
  shape_twin<X> s(sizes, x.shape(), t, dimesh::detail::core_of(x).cuts);
  s.set_once(x.once());
  return s;
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

/// A tensor like x with the values of a[k] + h da[k]; counts k up.
template <class X>
X filled_like(const X& x, std::size_t& k, const std::vector<array>& a, const std::vector<array>& da,
              double h) {
  X y(x.grid(), x.shape(), dimesh::detail::cuts_like(dimesh::detail::core_of(x)));
  y.set_once(x.once());
  scatter(moved(a[k], da[k], h), y);
  ++k;
  return y;
}

/// The gradient that has arrived at a leaf, on a tangent.
template <class X> double along(const leaf<X>& l, const array& tangent) {
  if (!l.node->filled) return 0;
  const X x = l.tracked.value();
  X dx(x.grid(), x.shape(), dimesh::detail::cuts_like(dimesh::detail::core_of(x)));
  scatter(tangent, dx);
  return inner(holding_of(dx), holding_of(l.bar()));
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
  std::string forward, backward;  // what the census says
};

/// Runs f(x...) backwards with a ybar whose addends differ (or every rank holds the whole: `once`),
/// and compares with the numerical derivative at the arrays a... in the direction of other arrays.
template <class F, class... X>
operation_report run_adjoint(const F& f, unsigned once, double step, const std::vector<array>& a,
                             const X&... x) {
  namespace dd = dimesh::detail;
  operation_report report;
  const auto& grid = std::get<0>(std::tie(x...)).grid();
  std::vector<array> da;
  for (const array& one : a) da.push_back(numbers(one.dims, one.size, 77 + da.size()));

  // Forward and backward on data.
  dd::tape t;
  std::tuple<detail::leaf<X>...> leaves{detail::leaf<X>(t, x)...};
  dd::node_base* const until = t.last();
  census::reset();
  auto y = std::apply([&](const auto&... l) { return f(l.tracked...); }, leaves);
  const auto forward = census::snapshot();
  using Y = std::remove_cvref_t<decltype(y.value())>;
  using YBar = typename dd::gradient_type<Y>::type;
  YBar ybar(y.value().grid(), y.shape(),
            dd::cuts_like(dd::core_of(y)));  // of another mesh, perhaps
  ybar.set_once(once & dimesh::spec_of<YBar>::table.mask(dimesh::use::partial));
  scatter(numbers_like(ybar, 5), ybar);
  y.cell()->add(ybar);
  census::reset();
  t.backward(until);
  const auto backward = census::snapshot();

  // The same on shapes.
  dd::tally ahead, back;
  dimesh::event_list events, forward_events;
  ahead.sink = &events;
  detail::sit_on(ahead, grid.state());
  {
    dd::tape st;
    std::tuple<detail::leaf<detail::shape_twin<X>>...> sl{
        detail::leaf<detail::shape_twin<X>>(st, detail::shape_of(x, &ahead))...};
    dd::node_base* const start = st.last();
    auto sy = std::apply([&](const auto&... l) { return f(l.tracked...); }, sl);
    back = ahead;
    forward_events = events;
    sy.cell()->add(detail::shape_of(ybar, &ahead));
    st.backward(start);
    report.backward = detail::missummed(events, ahead) + detail::unmarked(events, forward_events);
    std::swap(ahead, back);
    for (std::size_t m = 0; m < back.over.size(); ++m) {
      back.over[m].bytes -= ahead.over[m].bytes;
      back.over[m].calls -= ahead.over[m].calls;
    }
    report.forward = detail::misjudged(forward, ahead, grid.rank() == 0);
    report.backward += detail::misjudged(backward, back, grid.rank() == 0);
    // Shapes hold pointers into `ahead`, `back`: they end here.
  }

  const auto value = [&](double h) {
    const detail::unobserved quietly;
    std::size_t k = 0;
    const std::tuple<X...> at{detail::filled_like(x, k, a, da, h)...};
    const auto fy = std::apply([&](const auto&... v) { return f(v...); }, at);
    return detail::inner(detail::holding_of(fy), detail::holding_of(ybar));
  };
  report.tangent = (value(step) - value(-step)) / (2 * step);
  std::size_t k = 0;
  std::apply([&](const auto&... l) { ((report.cotangent += detail::along(l, da[k++])), ...); },
             leaves);
  return report;
}

/// Checks the adjoint and the cost of f at x...; a: the operands as whole arrays. Collective.
template <class F, class... X>
void check_operation(const F& f, const precision& p, const std::vector<array>& a, const X&... x) {
  // Seeds held whole along no axis, along all along which they are partial, along the first.
  using Y = decltype(f(x...));
  const unsigned all =
      dimesh::detail::dual_of(dimesh::spec_of<Y>::table).mask(dimesh::use::partial);
  for (const unsigned once : std::set<unsigned>{0u, all, all & (~all + 1)}) {
    const operation_report r = run_adjoint(f, once, p.step, a, x...);
    INFO("cotangents held whole along axes ", once);
    CHECK(std::abs(r.tangent - r.cotangent) <= p.tolerance * std::max(1.0, std::abs(r.tangent)));
    INFO("<J dx, ybar> = ", r.tangent, ", <dx, xbar> = ", r.cotangent);
    CHECK(r.forward == "");
    CHECK(r.backward == "");
  }
}

}  // namespace test_support
