// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Block-cyclic arrays: is every entry where ScaLAPACK's own arithmetic has it, whatever the layout
// of the tensor, the blocks, their first process and the process grid, and does it come back? Does
// nothing travel but what changes rank? And does pdgemr2d leave the same arrays?
// ranks: 1 2 3 4 6
// checks: 1178 4704 4704 7384 10064
// labels: device
#include "dimesh/interop/scalapack_exchange.hpp"

#include <doctest/doctest.h>

#include "dimesh/op/cuts.hpp"
#include "support/host.hpp"
#include "support/laws.hpp"
#include "support/scalapack.hpp"
#include "support/scratch.hpp"

#ifdef DIMESH_TEST_SCALAPACK
extern "C" {
void Cpdgemr2d(int, int, const double*, int, int, const int*, double*, int, int, const int*, int);
void pdgesv_(const int*, const int*, double*, const int*, const int*, const int*, int*, double*,
             const int*, const int*, const int*, int*);
}
#endif

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace dd = dimesh::detail;

constexpr int between = -77;  // what lies where no entry does

int ranks_here() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}
index_t sum_of(index_t mine) {
  const census::pause own;
  index_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// The ranks in reverse order.
class reversed_world {
 public:
  reversed_world() {
    int me = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comm_);
  }
  reversed_world(const reversed_world&) = delete;
  ~reversed_world() { MPI_Comm_free(&comm_); }
  MPI_Comm comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Blocks, and where they begin; numbers of processes are taken off the first ones.
struct dealing {
  int rows_per_block, columns_per_block, first_row, first_column, longer;
};
constexpr dealing dealings[] = {{1, 1, 0, 0, 0}, {2, 3, 1, 0, 2},  {3, 1, 0, 1, 0},
                                {1, 2, 1, 1, 1}, {2, 2, 0, 0, 0},  {7, 2, 2, 1, 3},
                                {4, 5, 1, 2, 0}, {64, 64, 1, 1, 0}};

/// This rank's part of the transpose of a matrix, entry by entry as the Users' Guide has them.
template <class T> struct dealt {
  dm::process_grid ranks;
  dm::array_descriptor d{};
  entry me{};
  index_t rows = 0, columns = 0;
  std::vector<T> data;

  dealt(const dm::process_grid& g, const extents& size, const dealing& how) : ranks(g) {
    me = seat_in(g);
    d = {1,
         17,
         static_cast<int>(size[1]),
         static_cast<int>(size[0]),
         how.rows_per_block,
         how.columns_per_block,
         how.first_row % g.rows,
         how.first_column % g.columns,
         0};
    for (index_t i = 0; i < size[1]; ++i) rows += row(i).process == me.process;
    for (index_t j = 0; j < size[0]; ++j) columns += column(j).process == me.local;
    d[8] = static_cast<int>(std::max<index_t>(rows + how.longer, 1));
    data.assign(static_cast<std::size_t>(me.process < 0 ? 0 : d[8] * columns), T(between));
    if (me.process < 0) d = {-5, -1, -1, 3, 0, 9, 9, 9, -1};  // as nobody has set it
    full = {size[1], size[0]};
    dealt_by = how;
  }
  entry row(index_t i) const { return place_of(i, d[4], ranks.rows, d[6]); }
  entry column(index_t j) const { return place_of(j, d[5], ranks.columns, d[7]); }
  /// Calls f(entry of data, {j, i}) for all that this rank has.
  template <class F> void each(const F& f) const {
    if (me.process < 0) return;
    for (index_t j = 0; j < full[1]; ++j)
      for (index_t i = 0; i < full[0]; ++i)
        if (row(i).process == me.process && column(j).process == me.local)
          f(static_cast<std::size_t>(column(j).local * d[8] + row(i).local), extents{j, i});
  }
  bool has(index_t j, index_t i) const {
    return me.process >= 0 && row(i).process == me.process && column(j).process == me.local;
  }
  /// Those of a, and nothing between them.
  std::vector<T> filled(const array& a) const {
    std::vector<T> all(data.size(), T(between));
    each([&](std::size_t at, const extents& index) {
      all[at] = static_cast<T>(value_at(a, a.dims, index));
    });
    return all;
  }

  extents full;
  dealing dealt_by{};
};

/// Elements that this rank wants, of those it has not: of its block, or of its part of the array.
template <class X, class T> std::pair<index_t, index_t> lacking(const X& v, const dealt<T>& p) {
  index_t of_block = 0, both = 0, of_array = 0;
  test_support::detail::for_each_element(test_support::detail::holding_of(v),
                                         [&](std::size_t, const extents& at) {
                                           ++of_block;
                                           both += p.has(at[0], at[1]);
                                         });
  p.each([&](std::size_t, const extents&) { ++of_array; });
  return {of_block - both, of_array - both};
}

/// Does f send what all ranks lack, in one all-to-all, beside the all-reduce by which they agree?
template <class F> void check_moved(index_t lacked, index_t element, const F& f) {
  census::reset();
  f();
  const auto seen = census::snapshot();
  const index_t all = sum_of(lacked);
  CHECK(sum_of(seen.bytes(census::operation::all_to_all)) == all * element);
  CHECK(seen.calls(census::operation::all_to_all) == (all > 0 ? 1 : 0));
  CHECK(seen.calls(census::operation::all_reduce) == (ranks_here() > 1 ? 1 : 0));
  CHECK(seen.bytes(census::operation::all_reduce) == (ranks_here() > 1 ? 152 : 0));
  CHECK(seen.calls() ==
        seen.calls(census::operation::all_to_all) + seen.calls(census::operation::all_reduce));
}

/// v, which holds a, there and back.
template <class X, class T, class... Cuts>
void check_array(const X& v, const array& a, dealt<T> p, const Cuts&... cuts) {
  const note said("blocks of ", p.dealt_by.rows_per_block, " x ", p.dealt_by.columns_per_block,
                  " over ", p.ranks.rows, " x ", p.ranks.columns);
  const auto [of_block, of_array] = lacking(v, p);
  check_moved(of_array, sizeof(T),
              [&] { dm::to_scalapack_exchange(v, p.data.data(), p.d, p.ranks); });
  CHECK(p.data == p.filled(a));
  X back;
  check_moved(of_block, sizeof(T), [&] {
    back = dm::from_scalapack_exchange<X>(v.grid(), p.data.data(), p.d, p.ranks, cuts...);
  });
  CHECK(p.data == p.filled(a));
  CHECK(agrees(back, a));
}

/// Process grids over some or all of the ranks.
std::vector<std::pair<int, int>> process_grids() {
  std::vector<std::pair<int, int>> all;
  for (int rows = 1; rows <= ranks_here(); ++rows)
    for (int columns = 1; rows * columns <= ranks_here(); ++columns) all.push_back({rows, columns});
  return all;
}
/// The next two of them, in different orders, and blocks for each: cases one after another have
/// others.
template <class F> void for_each_dealing(std::size_t& turn, const F& f) {
  static const auto* const reversed = new reversed_world;
  const auto grids = process_grids();
  const std::size_t each = std::min<std::size_t>(2, grids.size());
  for (std::size_t k = 0; k < each; ++k, ++turn) {
    const auto [rows, columns] = grids[turn % grids.size()];
    dm::process_grid g = dm::scalapack_grid(turn % 3 == 0 ? reversed->comm() : MPI_COMM_WORLD, rows,
                                            columns, turn % 2 == 0 ? 'R' : 'C');
    if (turn % 5 == 2) std::rotate(g.at.begin(), g.at.begin() + 1, g.at.end());
    if (turn % 5 == 4)
      for (int& r : g.at) r = ranks_here() - 1 - r;
    f(g, dealings[turn / grids.size() % std::size(dealings)]);
  }
}

TEST_CASE("to_scalapack_exchange, from_scalapack_exchange: under every layout, and back") {
  std::size_t turn = 0;
  const auto both_ways = [&turn](const auto& v, const array& a) {
    for_each_dealing(turn, [&](const dm::process_grid& g, const dealing& how) {
      check_array(v, a, dealt<double>(g, a.size, how));
    });
  };
  for_all_cases<plane, unevenly, p, q>({{5, 7}, {1, 9}, {0, 3}, {16, 2}}, both_ways);
  for_all_cases<line, unevenly, p, q>({{13, 11}, {3, 0}}, both_ways);
  for_all_cases<plane, evenly, p, q>({{12, 24}}, both_ways);
  for_all_cases<cube, layout_choice{.uneven = true, .stride = 5}, p, q>({{7, 8}}, both_ways);
}

struct eight : dm::dim<8> {};
struct five : dm::dim<5> {};

template <class X, class T> void check_elements(const dm::grid<plane>& g, std::size_t& turn) {
  const array a = numbers({"eight", "five"}, {8, 5}, 3);
  const X v = scattered<X>(g, a);
  for_each_dealing(turn, [&](const dm::process_grid& ranks, const dealing& how) {
    check_array(v, a, dealt<T>(ranks, a.size, how));
  });
}
TEST_CASE("elements of any type, and static extents") {
  std::size_t turn = 1;
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    using L = dm::layout<plane, dm::split<dm::uneven<five>, x>, dm::split<dm::uneven<eight>, y>>;
    check_elements<dm::tensor<float, L, eight, five>, float>(g, turn);
    check_elements<dm::tensor<int, L, eight, five>, int>(g, turn);
  });
}

TEST_CASE("complex elements") {
  using C = dm::complex_of<double>;
  using L = dm::layout<plane, dm::split<dm::uneven<p>, x>>;
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    dm::tensor<C, L, p, q> v(g, p{6}, q{5});
    dm::fill_by(
        v, [](index_t i, index_t j) { return C(static_cast<double>(i), static_cast<double>(j)); });
    dealt<C> there(dm::scalapack_grid(MPI_COMM_WORLD, ranks_here(), 1), {6, 5}, dealings[1]);
    dm::to_scalapack_exchange(v, there.data.data(), there.d, there.ranks);
    index_t wrong = 0;
    there.each([&](std::size_t at, const extents& index) {
      wrong += there.data[at] != C(static_cast<double>(index[0]), static_cast<double>(index[1]));
    });
    CHECK(wrong == 0);
    const auto back = dm::from_scalapack_exchange<dm::tensor<C, L, p, q>>(g, there.data.data(),
                                                                          there.d, there.ranks);
    CHECK(std::equal(on_host(back).data(), on_host(back).data() + back.local_size(),
                     on_host(v).data()));
  });
}

TEST_CASE("ragged dims") {
  using L = dm::layout<line, dm::split<dm::ragged<q>, x>>;
  using X = dm::tensor<double, L, p, q>;
  std::size_t turn = 0;
  for_each_grid<line>([&](const dm::grid<line>& g) {
    std::vector<index_t> lengths;
    for (index_t r = 0; r < g.ranks(); ++r) lengths.push_back((r * 5 + 2) % 4);
    index_t n = 0;
    for (const index_t l : lengths) n += l;
    const dm::cuts<q> cut(lengths);
    const array a = numbers({"p", "q"}, {6, n}, 4);
    const X v = scattered<X>(g, a, cut);
    for_each_dealing(turn, [&](const dm::process_grid& ranks, const dealing& how) {
      check_array(v, a, dealt<double>(ranks, a.size, how), cut);
    });
  });
}

TEST_CASE("more elements than MPI counts go pair by pair") {
  using X = dm::tensor<double, dm::layout<line, dm::split<dm::uneven<p>, x>>, p, q>;
  for_each_grid<line>([](const dm::grid<line>& g) {
    const array a = numbers({"p", "q"}, {9, 10}, 5);
    const X v = scattered<X>(g, a);
    X back(g, p{9}, q{10});
    dealt<double> there(dm::scalapack_grid(MPI_COMM_WORLD, g.ranks(), 1), a.size, dealings[4]);
    const dd::tensor_core& c = dd::core_of(v);
    const dd::dealt_matrix m(dd::agreed_array("test", c, g.everyone(), there.ranks, there.d, true),
                             c);
    {
      const dd::opened memory;
      dd::move_dealt<false, double>(g.everyone(), m, std::as_const(v).data(), there.data.data(), 3);
      const std::vector<double>& given = there.data;
      dd::move_dealt<true, double>(g.everyone(), m, back.data(), given.data(), 3);
    }
    CHECK(there.data == there.filled(a));
    CHECK(agrees(back, a));
  });
}

/// Does every rank say the same?
void check_refused(const std::string& said, const std::string& want) {
  CHECK(said == want);
  CHECK(sum_of(said == want ? 1 : 0) == ranks_here());
}

TEST_CASE("layouts that only the run knows: addends and places are refused") {
  const layout_choice any{.partial = true, .places = std::min(2, ranks_here())};
  const dm::grid<line> g(x{ranks_here()});
  const dealt<double> there(dm::scalapack_grid(MPI_COMM_WORLD, 1, ranks_here()), {12, 12},
                            dealings[1]);
  int addends = 0, places = 0;
  for_each_layout_value<line, dd::list<p, q>>(any, [&](auto t) {
    const dm::tensor<double, typename decltype(t)::type, p, q> v(g, p{12}, q{12});
    const bool sum = dd::core_of(v).layout().any_partial();
    const bool placed = dd::core_of(v).facts->placed != 0;
    addends += sum, places += placed;
    dealt<double> to = there;
    check_refused(
        thrown([&] { dm::to_scalapack_exchange(v, to.data.data(), to.d, to.ranks); }),
        sum      ? "to_scalapack_exchange: partial_operand: ranks hold addends, and no elements; "
                   "complete it first"
        : placed ? "to_scalapack_exchange: tensor_is_placed: the tensor lives at one place of an "
                   "axis; broadcast it"
                 : "nothing");
  });
  CHECK(addends > 0);
  CHECK(places > 0);
}

TEST_CASE("what the run refuses, on every rank") {
  using X = dm::tensor<double, dm::layout<line, dm::split<dm::uneven<p>, x>>, p, q>;
  const dm::grid<line> g(x{ranks_here()});
  const int n = ranks_here(), last = n - 1;
  const std::string at_last = " (rank " + std::to_string(last) + ")";
  const X v(g, p{6}, q{6});
  const dealt<double> right(dm::scalapack_grid(MPI_COMM_WORLD, 1, n), {6, 6}, {2, 1, 0, 0, 0});
  // Wrong on the last rank alone, or on all.
  const auto told = [&](bool everywhere, const auto& change) {
    dealt<double> p = right;
    const bool here = everywhere || g.rank() == last;
    if (here) change(p);
    const std::string to =
        thrown([&] { dm::to_scalapack_exchange(v, p.data.data(), p.d, p.ranks); });
    const std::string from =
        thrown([&] { (void)dm::from_scalapack_exchange<X>(g, p.data.data(), p.d, p.ranks); });
    CHECK((from == "nothing" || to.substr(3) == from.substr(5)));
    return to;
  };
  using D = dealt<double>;
  CHECK(told(true, [](D&) {}) == "nothing");
  check_refused(told(false, [](D& p) { p.d[8] = 5; }),
                "to_scalapack_exchange: LLD_ is 5, and this process has 6 rows" + at_last);
  check_refused(told(false, [](D& p) { p.d[0] = 501; }),
                "to_scalapack_exchange: DTYPE_ is 501, of a dense matrix 1" + at_last);
  check_refused(told(false, [](D& p) { p.d[4] = 0; }),
                "to_scalapack_exchange: MB_ is 0, less than 1" + at_last);
  check_refused(told(false, [](D& p) { p.d[7] = 9; }),
                "to_scalapack_exchange: CSRC_ is 9, and the process grid has " + std::to_string(n) +
                    " columns" + at_last);
  check_refused(
      told(false, [](D& p) { p.ranks.at[0] = 99; }),
      "to_scalapack_exchange: the process grid names rank 99 of " + std::to_string(n) + at_last);
  check_refused(told(false, [](D& p) { p.ranks.at.push_back(0); }),
                "to_scalapack_exchange: the process grid has 1 x " + std::to_string(n) +
                    " processes, and names " + std::to_string(n + 1) + " ranks" + at_last);
  check_refused(told(true, [](D& p) { p.ranks.comm = MPI_COMM_NULL; }),
                "to_scalapack_exchange: the process grid has no communicator (rank 0)");
  check_refused(thrown([&] { dm::to_scalapack_exchange(v, nullptr, right.d, right.ranks); }),
                "to_scalapack_exchange: the address of " +
                    std::to_string(sum_of(g.rank() == 0 ? index_t(right.data.size()) : 0)) +
                    " elements is null (rank 0)");
  // Extents: M_ and N_ are those of x, on the way back those of the type.
  check_refused(told(true, [](D& p) { p.d[3] = 5; }),
                "to_scalapack_exchange: N_ is 5, and dim 'p' has 6 elements (rank 0)");
  using F = dm::tensor<double, dm::layout<line>, eight, q>;
  check_refused(thrown([&] {
                  (void)dm::from_scalapack_exchange<F>(g, right.data.data(), right.d, right.ranks);
                }),
                "from_scalapack_exchange: N_ is 6, and dim 'eight' has 8 elements (rank 0)");
  if (n == 1) return;
  check_refused(told(false, [](D& p) { p.d[5] = 3; }),
                "to_scalapack_exchange: NB_ is 1 and 3 on ranks of one array");
  check_refused(thrown([&] {
                  dm::array_descriptor d = right.d;
                  if (g.rank() == last) d[2] = 5, d[8] = 6;
                  (void)dm::from_scalapack_exchange<X>(g, right.data.data(), d, right.ranks);
                }),
                "from_scalapack_exchange: M_ is 5 and 6 on ranks of one array");
  check_refused(told(false, [](D& p) { std::reverse(p.ranks.at.begin(), p.ranks.at.end()); }),
                "to_scalapack_exchange: ranks name different process grids");
  check_refused(told(true,
                     [n](D& p) {
                       if (n > 1) p.ranks.at[1] = p.ranks.at[0];
                     }),
                "to_scalapack_exchange: the process grid names rank 0 twice (rank 0)");
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, g.rank() == 0 ? 0 : 1, 0, &half);
  check_refused(told(true, [half](D& p) { p.ranks = dm::scalapack_grid(half, 1, 1); }),
                "to_scalapack_exchange: the process grid's communicator, of 1 ranks, is not over "
                "the " +
                    std::to_string(n) +
                    " ranks of the tensor's grid; name one that is "
                    "(rank 0)");
  MPI_Comm_free(&half);
}

#ifdef DIMESH_TEST_SCALAPACK
/// v as pdgemr2d deals it, beside what we do; its blocks are an array of ScaLAPACK's as they are.
template <class X> void check_dealt_alike(const X& v, const array& a, std::size_t& turn) {
  const dm::process_grid from = dm::scalapack_grid(v);
  const context whole(from);
  const dm::array_descriptor d = dm::scalapack_descriptor(v, whole.handle());
  const int n = ranks_here();
  for (int rows = 1; rows <= n; ++rows)
    for (int columns = 1; rows * columns <= n; ++columns, ++turn) {
      const dm::process_grid g =
          dm::scalapack_grid(from.comm, rows, columns, turn % 2 == 0 ? 'R' : 'C');
      const context with(g);
      dealt<double> ours(g, a.size, dealings[turn % std::size(dealings)]);
      ours.d[1] = with.handle();
      std::vector<double> theirs = ours.data;
      Cpdgemr2d(d[2], d[3], on_host(v).data(), 1, 1, d.data(), theirs.data(), 1, 1, ours.d.data(),
                whole.handle());
      dm::to_scalapack_exchange(v, ours.data.data(), ours.d, g);
      CHECK(ours.data == theirs);
    }
}
TEST_CASE("pdgemr2d leaves the same arrays") {
  std::size_t turn = 0;
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    using L = dm::layout<plane, dm::split<dm::uneven<p>, x>, dm::split<dm::uneven<q>, y>>;
    for (const extents& size : {extents{9, 7}, {24, 5}, {1, 30}}) {
      const array a = numbers({"p", "q"}, size, 6);
      check_dealt_alike(scattered<dm::tensor<double, L, p, q>>(g, a), a, turn);
    }
  });
}

TEST_CASE("pdgesv of small blocks solves what tensors of other layouts state") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    using L = dm::layout<plane, dm::split<dm::uneven<q>, y, x>>;
    using M = dm::layout<plane, dm::split<dm::uneven<r>, x>>;
    const index_t n = 21, m = 3;
    const array a = make({"p", "q"}, {n, n}, [](const extents& i) {  // a[unknown, equation]
      return i[0] == i[1] ? 40.0 : static_cast<double>((3 * i[0] + i[1] * i[1]) % 7 - 3);
    });
    const array b = numbers({"r", "q"}, {m, n}, 8);
    const int rows = ranks_here() % 2 == 0 ? 2 : 1;
    const dm::process_grid ranks = dm::scalapack_grid(MPI_COMM_WORLD, rows, ranks_here() / rows);
    const context with(ranks);
    dealt<double> left(ranks, {n, n}, {4, 4, 0, 0, 0}), right(ranks, {m, n}, {4, 4, 0, 0, 0});
    left.d[1] = right.d[1] = with.handle();
    dm::to_scalapack_exchange(scattered<dm::tensor<double, L, p, q>>(g, a), left.data.data(),
                              left.d, ranks);
    dm::to_scalapack_exchange(scattered<dm::tensor<double, M, r, q>>(g, b), right.data.data(),
                              right.d, ranks);
    std::vector<int> pivots(static_cast<std::size_t>(n + 8));
    const int order = static_cast<int>(n), columns = static_cast<int>(m), one = 1;
    int info = -1;
    pdgesv_(&order, &columns, left.data.data(), &one, &one, left.d.data(), pivots.data(),
            right.data.data(), &one, &one, right.d.data(), &info);
    CHECK(info == 0);
    const auto solved = dm::from_scalapack_exchange<dm::tensor<double, dm::layout<plane>, r, p>>(
        g, right.data.data(), right.d, ranks);
    double worst = 0;
    for (index_t k = 0; k < m; ++k)
      for (index_t e = 0; e < n; ++e) {
        double sum = 0;
        for (index_t u = 0; u < n; ++u)
          sum += value_at(a, a.dims, {u, e}) * on_host(solved)[k * n + u];
        worst = std::max(worst, std::abs(sum - value_at(b, b.dims, {k, e})));
      }
    CHECK(worst < 1e-12);
  });
}
#endif
}  // namespace
