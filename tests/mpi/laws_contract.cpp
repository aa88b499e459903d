// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products by every schedule under the pairs of layouts that it takes: axes split, replicate, hold
// addends or have an operand at one place; blocks are even, uneven, ragged, or of one kind here and
// of another there; with a dim that both operands and the result have and without one. Blocks of
// the right values, transposes, and what MPI sees beside what is foreseen. Layouts are values, so
// that each schedule is compiled once. Where a schedule takes thousands of pairs, a sample, another
// one on each shape of the mesh.
// ranks: 1 2 3 4 8
// checks: 7895 22411 7396 6999 489
// compiler: clang
#include <doctest/doctest.h>

#include <algorithm>

#include "dimesh/dimesh.hpp"
#include "dimesh/op/contract.hpp"
#include "dimesh/op/cuts.hpp"
#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace dd = dimesh::detail;
namespace by = dm::by;
using dd::list;

template <class M> using here = dm::layout<M, dm::held_at_run_time>;
template <class M, class Dims> struct tensor_on;
template <class M, class... D> struct tensor_on<M, list<D...>> {
  using type = dm::tensor<double, here<M>, D...>;
};
template <class M, class Dims> using T = typename tensor_on<M, Dims>::type;

/// What is multiplied: dims of the operands and of the result.
struct matrices {
  using first = list<p, q>;
  using second = list<q, r>;
  using out = list<r, p>;
};
struct batches {
  using first = list<s, p, q>;
  using second = list<q, s, r>;
  using out = list<p, s, r>;
};
template <class Schedule, class Out> struct product;
template <class Schedule, class... Out> struct product<Schedule, list<Out...>> {
  constexpr auto operator()(const auto& v, const auto& w) const {
    return dm::contract<Schedule, Out...>(v, w);
  }
};

/// Extents of p, q, r, s: those that come out even first.
const std::vector<extents> sizes = {{4, 8, 12, 4}, {5, 9, 4, 3}, {1, 7, 2, 2}, {3, 0, 2, 2}};

template <class D> index_t extent_in(const extents& n) {
  return n[static_cast<std::size_t>(dd::index_of<D, list<p, q, r, s>>)];
}

/// n elements in blocks of as many lengths as there are ranks; those of q begin with none, those of
/// the others end so.
template <class D, class Grid> dm::cuts<D> cuts_on(const Grid& g, index_t n) {
  std::vector<double> speeds;
  const auto blocks = static_cast<index_t>(g.everyone().size());
  for (index_t i = 0; i < blocks; ++i)
    speeds.push_back(static_cast<double>(blocks == 1            ? 1
                                         : std::is_same_v<D, q> ? i
                                                                : blocks - 1 - i));
  return dm::cuts_by_speed<D>(n, speeds);
}

/// A whole array, and the tensor of it under the layout of now.
template <class X> struct operand {
  array whole;
  X x;
};
template <class M, class... D>
operand<T<M, list<D...>>> operand_of(const dm::grid<M>& g, list<D...> dims, const extents& n,
                                     unsigned seed) {
  using X = T<M, list<D...>>;
  array a = numbers(dd::names_of(dims), {extent_in<D>(n)...}, seed);
  return {a, scattered<X>(g, a, cuts_on<D>(g, extent_in<D>(n))...)};
}
template <class M, class... D> bool can_be_cut(const dm::grid<M>& g, list<D...>, const extents& n) {
  return comes_out_even<dm::spec_of<T<M, list<D...>>>>(g, {extent_in<D>(n)...});
}
template <class M, class Dims> const dd::tensor_facts& facts_here() {
  return dd::facts_now<dm::spec_of<T<M, Dims>>>();
}

/// May ranks other than the one at the origin make more calls than it does?
bool is_odd(const dd::table& t) {
  bool odd = t.mask(dm::use::placed) != 0;
  for (int d = 0; d < dm::max_dims; ++d) odd = odd || t.ragged[d];
  return odd;
}

int turn = 0;  // of seeds: whole along no axis, along all that hold addends

template <class Schedule, class Out, class V, class W> void check_product(const V& v, const W& w) {
  const note said("schedule ", dd::spelled<Schedule>(), ", extents ", v.whole.size.front(), " ",
                  v.whole.size.back(), " ", w.whole.size.back());
  const product<Schedule, Out> f;
  CHECK(agrees(f(v.x, w.x), einsum(dd::names_of(Out{}), {v.whole, w.whole})));
  const operation_report report =
      run_adjoint(f, ++turn % 2 == 0 ? ~0u : 0, 1, {v.whole, w.whole}, v.x, w.x);
  CHECK(report.tangent == report.cotangent);
  const bool odd = is_odd(dd::core_of(v.x).layout()) || is_odd(dd::core_of(w.x).layout());
  if (odd && v.x.grid().rank() != 0) return;
  CHECK(report.forward == "");
  CHECK(report.backward == "");
}

template <class Grid> int ranks_of(const Grid& g) { return static_cast<int>(g.everyone().size()); }

/// A schedule, and of how many pairs of layouts one is tried; of Times as many where there are more
/// than two ranks.
template <class Schedule, int Of, int Times = 3> struct sample {
  using schedule = Schedule;
  int met = 0, tried = 0;
  bool is_next(int ranks) { return met++ % (ranks > 2 ? Times * Of : Of) == 0; }
};
template <class... Sample> struct samples : Sample... {
  /// w(): the second operand, made where a schedule takes it; its facts.
  template <class Program, class V, class W>
  void check(dd::tag<Program>, const V& v, const dd::tensor_facts& facts, const W& w) {
    const dd::tensor_facts* const at[] = {dd::core_of(v.x).facts, &facts};
    (check_if_legal<typename Program::out>(static_cast<Sample&>(*this), {at, 2}, v, w), ...);
  }
  int fewest_tried() const { return std::min({Sample::tried...}); }

 private:
  template <class Out, class One, class V, class W>
  static void check_if_legal(One& one, dd::rule_operands x, const V& v, const W& w) {
    using rule = typename dd::contract_call<typename One::schedule, Out>::rule;
    if (!one.is_next(ranks_of(v.x.grid())) || !rule::of(x, dd::dims_in<Out>).ok()) return;
    ++one.tried;
    check_product<typename One::schedule, Out>(v, w());
  }
};

/// Which blocks operands have: every kind beside every kind.
constexpr layout_choice kinds[] = {{.partial = true, .places = 2},
                                   {.partial = true, .uneven = true, .places = 2},
                                   {.partial = true, .ragged = true, .places = 2}};

/// All pairs of layouts of which the one is of a kind, and the other one of a kind; q is split in
/// both, if asked.
template <class M, class Program, bool Summed, class Schedules>
void check_pairs(const dm::grid<M>& g, const layout_choice& kind, const layout_choice& other,
                 Schedules& these) {
  using first = typename Program::first;
  using second = typename Program::second;
  const auto is_met = [&](auto dims, const extents& n) {
    using D = decltype(dims);
    const dd::tensor_facts& f = facts_here<M, D>();
    return can_be_cut(g, D{}, n) && (!Summed || f.layout.axes_of(dd::index_of<q, D>) != 0);
  };
  const bool even = !(kind.uneven || kind.ragged) || !(other.uneven || other.ragged);
  std::size_t next = 0;
  for_each_layout_value<M, first>(kind, [&](auto) {
    const extents& n = sizes[even ? 0 : next++ % sizes.size()];
    if (!is_met(first{}, n)) return;
    const auto v = operand_of(g, first{}, n, 1);
    for_each_layout_value<M, second>(other, [&](auto) {
      if (is_met(second{}, n))
        these.check(dd::tag<Program>{}, v, facts_here<M, second>(),
                    [&] { return operand_of(g, second{}, n, 2); });
    });
  });
}
template <class M, class Program, class Schedules, bool Summed = false>
void check_all(int fewest_ranks, int longest_axis) {
  Schedules these;
  for_each_grid<M>([&](const dm::grid<M>& g) {
    bool fits = ranks_of(g) >= fewest_ranks;
    for (int a = 0; a < M::rank; ++a) fits = fits && g.state().sizes()[a] <= longest_axis;
    for (std::size_t i = 0; fits && i < std::size(kinds); ++i)
      for (std::size_t j = 0; j < std::size(kinds); ++j)
        if (!Summed || (i + j) % 2 == 0)
          check_pairs<M, Program, Summed>(g, kinds[i], kinds[j], these);
    if (fits) CHECK(these.fewest_tried() >= 3);
  });
}

struct on_line
    : samples<sample<by::ring<x>, 1, 1>, sample<by::reduce_scatter<dm::uneven<r>, x>, 1, 1>,
              sample<by::gather, 1, 1>, sample<by::best<>, 1, 1>> {};
TEST_CASE("matrices on a line") { check_all<line, matrices, on_line>(1, 4); }

template <int Of>
using on_plane =
    samples<sample<by::ring<x>, Of>, sample<by::ring<y>, Of>, sample<by::summa<x, y, 2>, Of>,
            sample<by::summa<y, x, 3>, Of>, sample<by::reduce_scatter<dm::uneven<p>, x>, 2 * Of>,
            sample<by::reduce_scatter<dm::uneven<r>, y>, 2 * Of>, sample<by::gather, 23 * Of>,
            sample<by::best<>, 29 * Of>>;
struct most : on_plane<1> {};
TEST_CASE("matrices on a plane") { check_all<plane, matrices, most>(1, 3); }
struct some : on_plane<5> {};
TEST_CASE("batches of matrices on a plane") { check_all<plane, batches, some>(1, 3); }

// ---- the memory that by::best may take ----------------------------------------------------------

/// The bytes that by::best asks for where it may gather Memory at once; 0 where that is enough, and
/// its product is right.
template <index_t Memory, class V, class W> index_t asked(const V& v, const W& w) {
  const product<by::best<void, Memory>, matrices::out> f;
  try {
    const auto y = f(v.x, w.x);
    CHECK(agrees(y, einsum({"r", "p"}, {v.whole, w.whole})));
    return 0;
  } catch (const dm::error& e) {
    const std::string text = e.what(), all = std::to_string(Memory);
    const std::string begin = "contract: by::best may gather " + all + " bytes";
    CHECK(text.substr(0, begin.size()) == begin);
    const std::string before = "allow it ";
    const auto at = text.find(before);
    REQUIRE(at != std::string::npos);
    return std::stoll(text.substr(at + before.size()));
  }
}
struct within_memory {
  int next = 0, some = 0, none = 0;
  template <class Program, class V, class W>
  void check(dd::tag<Program>, const V& v, const dd::tensor_facts& facts, const W& make) {
    using rule = dd::contract_call<by::best<>, matrices::out>::rule;
    const dd::tensor_facts* const at[] = {dd::core_of(v.x).facts, &facts};
    if (next++ % 7 != 0 || !rule::of({at, 2}, dd::dims_in<matrices::out>).ok()) return;
    const auto w = make();
    const index_t enough = asked<1>(v, w), more = asked<300>(v, w);
    const note said("with 1 byte it asks for ", enough, ", with 300 for ", more);
    CHECK(more == (enough > 300 ? enough : 0));
    ++(enough > 0 ? some : none);
  }
  int fewest_tried() const { return std::min(some, none); }
};
TEST_CASE("where nothing fits the memory, by::best says what it needs, and that is enough") {
  check_all<plane, matrices, within_memory>(2, 3);
}

// With a spare axis, which eight ranks make as long as the others; without, the third one does
// anything.
struct on_cube : samples<sample<by::summa<x, y, 2>, 7>, sample<by::summa<y, x, 2, z>, 1>,
                         sample<by::summa<x, z, 3, y>, 1>> {};
TEST_CASE("matrices on a cube") { check_all<cube, matrices, on_cube, true>(2, 2); }

}  // namespace
