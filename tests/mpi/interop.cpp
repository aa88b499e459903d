// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The door to existing codes: elements by name, blocks as Views, memory lent to tensors.
// ranks: 1 2 4
// labels: mpich
#include <doctest/doctest.h>

#include <census.hpp>

#include "dimesh/create.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/interop/borrow.hpp"
#include "dimesh/interop/host_block.hpp"
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/compound.hpp"
#include "dimesh/op/cuts.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/operation.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/op/value.hpp"
#include "dimesh/reflect/clone.hpp"
#include "support/adjoint.hpp"
#include "support/host.hpp"
#include "support/laws.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

const std::vector<extents> sizes = {{4, 6}, {5, 3}, {0, 2}, {1, 7}};

/// The error that f() ends with.
template <class F> std::string error_of(F&& f) {
  try {
    f();
  } catch (const dm::error& e) {
    return e.what();
  }
  return {};
}

TEST_CASE("host_block: this rank's elements, row-major") {
  for_each_case<plane, unevenly, p, q>(sizes, [](auto v, const array& a) {
    const auto rows = v.block(0), cols = v.block(1);
    const index_t all = v.template extent<q>();
    const dm::host_block b(v);
    REQUIRE(b.size() == v.local_size());
    bool right = true;
    for (index_t i = 0; i < rows.length; ++i)
      for (index_t j = 0; j < cols.length; ++j)
        right = right &&
                b[i * cols.length + j] ==
                    a.values[static_cast<std::size_t>((rows.offset + i) * all + cols.offset + j)];
    CHECK(right);
    CHECK(std::equal(b.begin(), b.end(), b.data()));
  });
  using V = dm::tensor<double, dm::layout<plane>, p, q>;
  CHECK(error_of([] { (void)dm::host_block(V()); }).find("host_block: an operand is not defined") !=
        std::string::npos);
}

TEST_CASE("at, holds: each element is found where it lies, and on as many ranks as share it") {
  for_each_case<plane, unevenly, p, q>(sizes, [](auto v, const array& a) {
    using S = dm::spec_of<decltype(v)>;
    const index_t rows = v.template extent<p>(), cols = v.template extent<q>();
    index_t held = 0;
    bool right = true;
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < cols; ++j) {
        p at_p;
        at_p.n = i;
        q at_q;
        at_q.n = j;
        if (!v.holds(at_q, at_p)) {
          right = right && !error_of([&] { (void)v.at(at_p, at_q); }).empty();
          continue;
        }
        ++held;
        right = right && v.at(at_p, at_q) == a.values[static_cast<std::size_t>(i * cols + j)] &&
                v.at(at_q, at_p) == v.at(at_p, at_q);
      }
    CHECK(right);
    CHECK(held == v.local_size());
    CHECK(S::rank == 2);
  });
}

TEST_CASE("set: all ranks together change one element, and copies keep their values") {
  for_each_case<plane, unevenly, p, q>({{5, 3}}, [](auto v, const array&) {
    const auto before = v;
    for (index_t i = 0; i < 5; ++i) {
      p at_p;
      at_p.n = i;
      q at_q;
      at_q.n = 2;
      v.set(100 + static_cast<double>(i), at_p, at_q);
      if (v.holds(at_p, at_q)) {
        CHECK(v.at(at_p, at_q) == 100 + static_cast<double>(i));
        CHECK(before.at(at_p, at_q) < 100);
      }
    }
  });
}

TEST_CASE("at: halos are other ranks' elements") {
  for_each_case<plane, unevenly, p, q>({{5, 3}}, [](auto v, const array& a) {
    const auto wide = dm::halo_exchange<1, p>(v);
    for (index_t i = 0; i < 5; ++i) {
      p at_p;
      at_p.n = i;
      q at_q;
      at_q.n = 1;
      CHECK(wide.holds(at_p, at_q) == v.holds(at_p, at_q));
      if (wide.holds(at_p, at_q))
        CHECK(wide.at(at_p, at_q) == a.values[static_cast<std::size_t>(i * 3 + 1)]);
    }
  });
}

TEST_CASE("view_of, copy_to, from_view: a block and its View say the same, whatever the strides") {
  for_each_case<plane, unevenly_with_partial, p, q>(sizes, [](auto v, const array& a) {
    using X = decltype(v);
    const X& fixed = v;
    const auto seen = dm::view_of(fixed);
    static_assert(std::is_same_v<decltype(seen(0, 0)), const double&>);
    bool right = true;
    {
      const auto elements = test_support::on_host(v);
      for (index_t i = 0; i < v.local(0); ++i)
        for (index_t j = 0; j < v.local(1); ++j)
          right = right && seen(i, j) == elements[i * v.stride(0) + j * v.stride(1)];
    }
    CHECK(right);
    const auto n = static_cast<std::size_t>(v.local(0)), m = static_cast<std::size_t>(v.local(1));
    const Kokkos::View<double**, Kokkos::LayoutLeft> turned("turned", n, m);
    dm::copy_to(turned, v);
    const Kokkos::View<double***> wide("wide", n, m, 2);
    const auto strided = Kokkos::subview(wide, Kokkos::ALL, Kokkos::ALL, 1);
    dm::copy_to(strided, v);
    CHECK(agrees(dm::from_view<X>(v.grid(), turned, v.shape()), a));
    CHECK(agrees(dm::from_view<X>(v.grid(), strided, v.shape()), a));
    const std::string text = error_of([&] { (void)dm::borrow<X>(v.grid(), strided, v.shape()); });
    CHECK((text.find("borrow: the View's elements along dim '") != std::string::npos) ==
          (v.local_size() > 1));
  });
}

/// A View of all elements, by numbers one after another.
template <class V> void count_up(const V& view) {
  for (std::size_t k = 0; k < view.size(); ++k) view.data()[k] = static_cast<double>(k);
}
/// The View is borrowed, seen again, and copied either way.
template <class X, class V>
void check_rank(const dm::grid<test_support::line>& g, const V& given,
                const typename X::shape_type& shape) {
  count_up(given);
  const auto x = dm::borrow<X>(g, given, shape);
  const auto seen = dm::view_of(x);
  static_assert(int{std::remove_cvref_t<decltype(seen)>::rank} == int{V::rank});
  CHECK(seen.data() == given.data());
  CHECK(static_cast<index_t>(seen.size()) == x.local_size());
  const V copied = Kokkos::create_mirror(given);
  dm::copy_to(copied, x);
  CHECK(std::equal(given.data(), given.data() + given.size(), copied.data()));
  const X back = dm::from_view<X>(g, copied, shape);
  const auto elements = test_support::on_host(back);
  CHECK(std::equal(given.data(), given.data() + given.size(), elements.data()));
}

TEST_CASE("Views of no dim, one, three and eight: borrowed, seen and copied") {
  struct a : dm::dim<1> {};
  struct b : dm::dim<2> {};
  struct c : dm::dim<2> {};
  struct d : dm::dim<1> {};
  struct e : dm::dim<3> {};
  struct f : dm::dim<2> {};
  const dm::grid<test_support::line> g;
  using L = dm::layout<test_support::line>;
  using dm::tensor;
  using none = tensor<double, L>;
  check_rank<none>(g, Kokkos::View<double>("v"), {});
  using one = tensor<double, L, p>;
  check_rank<one>(g, Kokkos::View<double*>("v", 5), one(g, p{5}).shape());
  using three = tensor<double, L, p, b, q>;
  check_rank<three>(g, Kokkos::View<double***, Kokkos::LayoutRight>("v", 4, 2, 3),
                    three(g, p{4}, q{3}).shape());
  using eight = tensor<double, L, a, p, b, c, d, e, q, f>;
  check_rank<eight>(g,
                    Kokkos::View<double********, Kokkos::LayoutRight>("v", 1, 2, 2, 2, 1, 3, 2, 2),
                    eight(g, p{2}, q{2}).shape());
}

TEST_CASE("blocks of a sum that each rank holds whole are addends outside of the library") {
  const dm::grid<test_support::line> g;
  using X = dm::tensor<double, dm::layout<test_support::line, dm::partial<x>>, p>;
  const array whole{{"p"}, {3}, {7, 8, 9}};
  auto v = dm::from_rank<X>(g, {7, 8, 9}, p{3});
  REQUIRE(v.once() == 1);
  const Kokkos::View<double*> out("out", 3);
  dm::copy_to(out, v);
  CHECK(agrees(dm::from_view<X>(g, out, p{3}), whole));
  const dm::host_block b(v);
  CHECK(agrees(dm::from_blocks<X>(g, std::vector<double>(b.begin(), b.end()), p{3}), whole));
  CHECK(v.once() == 1);
  const X copy = v;
  (void)dm::view_of(v);
  CHECK(agrees(v, whole));
  Kokkos::deep_copy(dm::view_of(v), static_cast<double>(g.rank() + 1));
  const double all = static_cast<double>(g.ranks() * (g.ranks() + 1) / 2);
  CHECK(agrees(v, array{{"p"}, {3}, {all, all, all}}));
  CHECK(agrees(copy, whole));
}

struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
struct row : dm::dim<> {};
struct col : dm::dim<6> {};
struct deep : dm::dim<> {};
using by_rows = dm::layout<line, dm::split<row, ranks>>;
using field = dm::tensor<double, by_rows, row, col>;
using field_view = Kokkos::View<double**, Kokkos::LayoutRight, dm::detail::memory_space>;

TEST_CASE("borrow: a tensor is where the View is, and keeps it there") {
  const dm::grid<line> g;
  const row rows{3 * g.ranks()};
  field x;
  double* at = nullptr;
  {
    const field_view v("v", 3, 6);
    at = v.data();
    Kokkos::deep_copy(v, 2.0);
    x = dm::borrow<field>(g, v, rows);
    CHECK(x.data() == at);
    CHECK(v.use_count() == 2);
  }
  CHECK(dm::value(dm::complete(dm::sum(x))) == 2.0 * 18 * g.ranks());
  dm::fill(x, 5);
  CHECK(x.data() == at);
  CHECK(at[17] == 5);
}

TEST_CASE("borrow: what is const is only read, and what is shared is not written elsewhere") {
  const dm::grid<line> g;
  const row rows{3 * g.ranks()};
  const field_view v("v", 3, 6);
  field read = dm::borrow<field>(g, Kokkos::View<const double**, Kokkos::LayoutRight>(v), rows);
  dm::fill(read, 1);
  CHECK(v(0, 0) == 0);
  CHECK(read.data() != v.data());

  field x = dm::borrow<field>(g, v, rows);
  {
    const field other = x;
    CHECK(error_of([&] { dm::fill(x, 1); }) ==
          "tensor: memory of the program, borrowed to be written, is shared by another tensor now; "
          "let "
          "that one go first, or clone it");
    CHECK(v(0, 0) == 0);
    CHECK(other.data() == x.data());
  }
  dm::fill(x, 1);
  CHECK(v(2, 5) == 1);
  field copy = dm::clone(x);
  dm::fill(copy, 3);
  CHECK(v(2, 5) == 1);
}

TEST_CASE("borrow: x += y is written where x lies, x = x + y is another tensor") {
  const dm::grid<line> g;
  const row rows{3 * g.ranks()};
  const field_view v("v", 3, 6);
  field x = dm::borrow<field>(g, v, rows);
  const field one = dm::constant<field>(g, 1.0, rows);
  x += one;
  x *= 6.0;
  x -= one * 2.0;
  x /= one + one;
  CHECK(x.data() == v.data());
  CHECK(v(2, 5) == 2);
  CHECK(dm::value(dm::complete(dm::sum(x))) == 2.0 * 18 * g.ranks());
  {
    const field other = x;
    CHECK(error_of([&] { x += one; }).find("is shared by another tensor now") != std::string::npos);
    CHECK(x.data() == v.data());
  }
  x = x + one;
  CHECK(x.data() != v.data());
  CHECK(v(2, 5) == 2);

  // Addends that each rank holds as the whole are the first rank's in the program's memory.
  using sums = dm::tensor<double, dm::layout<line, dm::partial<ranks>>, col>;
  std::vector<double> memory(6, 1);
  auto s = dm::borrow<sums>(g, memory.data(), 6);
  s += dm::from_rank<sums>(g, {7, 8, 9, 10, 11, 12}, 0);
  CHECK(s.data() == memory.data());
  CHECK(memory[5] == (g.rank() == 0 ? 13 : 1));
}

TEST_CASE("borrow: blocks of as many elements as each rank happens to have") {
  using counted = dm::tensor<double, dm::layout<line, dm::split<dm::ragged<row>, ranks>>, row, col>;
  const dm::grid<line> g;
  std::vector<index_t> counts;
  for (int r = 0; r < g.ranks(); ++r) counts.push_back(r == 1 ? 0 : r + 2);
  const dm::cuts<row> how(counts);
  const index_t mine = counts[static_cast<std::size_t>(g.rank())];
  const field_view v("v", static_cast<std::size_t>(mine), 6);
  Kokkos::deep_copy(v, 1.0);
  auto x = dm::borrow<counted>(g, v, how);
  CHECK(x.data() == v.data());
  CHECK(dm::value(dm::complete(dm::sum(x))) == 6.0 * static_cast<double>(x.extent<row>()));
  std::vector<double> memory(static_cast<std::size_t>(6 * mine), 2);
  const auto y = dm::borrow<counted>(g, memory.data(), 6 * mine, how);
  CHECK(dm::value(dm::complete(dm::sum(x * y))) == 12.0 * static_cast<double>(x.extent<row>()));
}

TEST_CASE("borrow: an address, a length, and blocks that have halos") {
  const dm::grid<line> g;
  const row rows{3 * g.ranks()};
  std::vector<double> memory(18, 4);
  const field x = dm::borrow<field>(g, memory.data(), 18, rows);
  CHECK(x.data() == memory.data());
  const std::vector<double>& fixed = memory;
  field y = dm::borrow<field>(g, fixed.data(), 18, rows);
  dm::clear(y);
  CHECK(memory[0] == 4);
  CHECK(error_of([&] { (void)dm::borrow<field>(g, memory.data(), 17, rows); }) ==
        "borrow: 17 elements are lent, this rank's block has 18");
  const field_view short_one("v", 2, 6);
  CHECK(error_of([&] { (void)dm::borrow<field>(g, short_one, rows); }) ==
        "borrow: the View has 2 elements along dim 'row', this rank's block of the tensor 3");

  // Elements that lie in another order of the dims go to a tensor of dims in that order.
  const Kokkos::View<double**, Kokkos::LayoutLeft, dm::detail::memory_space> turned("v", 3, 6);
  CHECK(error_of([&] { (void)dm::borrow<field>(g, turned, rows); }) ==
        "borrow: the View's elements along dim 'row' lie 1 apart, those of a tensor 6, row-major "
        "in the order of its dims; they lie so with the dims in the order 'col', 'row': give them "
        "to a tensor of dims in that order, or copy it: from_view");
  using turned_field = dm::tensor<double, by_rows, col, row>;
  const field_view as_they_lie(turned.data(), 6, 3);
  turned_field z = dm::borrow<turned_field>(g, as_they_lie, rows);
  dm::fill_by(z, [](index_t j, index_t i) { return static_cast<double>(10 * i + j); });
  CHECK(test_support::on_host(z)[3] == turned(0, 1));
  using cube = dm::tensor<double, dm::layout<line, dm::split<row, ranks>>, row, deep, col>;
  const Kokkos::View<double***, Kokkos::LayoutStride> mixed(
      memory.data(), Kokkos::LayoutStride(3, 1, 1, 99, 6, 3));
  const std::string in_order = error_of([&] { (void)dm::borrow<cube>(g, mixed, rows, deep{1}); });
  CHECK(in_order.find("in the order 'deep', 'col', 'row': give") != std::string::npos);
  const Kokkos::View<double***, Kokkos::LayoutStride> holes(
      memory.data(), Kokkos::LayoutStride(3, 1, 1, 99, 6, 4));
  CHECK(error_of([&] {
          (void)dm::borrow<cube>(g, holes, rows, deep{1});
        }).find("row-major in the order of its dims; order the dims so, or copy it") !=
        std::string::npos);

  using wide = dm::tensor<double, dm::layout<line, dm::split<dm::halo<row, 1>, ranks>>, row, col>;
  const field_view v("v", 5, 6);
  Kokkos::deep_copy(v, 1.0);
  const wide w = dm::borrow<wide>(g, v, rows);
  CHECK(w.local<row>() == 5);
  CHECK(w.data() == v.data());
}

/// A Kokkos kernel of a program's own, over n-dimensional blocks: y(j) = the sum over i of
/// a(i, j) b(i, j).
template <class T> struct dot_columns_op {
  static constexpr std::string_view call = "dot_columns";
  void fill(dm::results y, dm::operands x) const {
    const auto to = dm::view_of<T, 1>(y[0]);
    const auto a = dm::view_of<const T, 2>(x[0]), b = dm::view_of<const T, 2>(x[1]);
    Kokkos::parallel_for(
        "dot_columns", to.extent(0), KOKKOS_LAMBDA(const std::size_t j) {
          to(j) = 0;
          for (std::size_t i = 0; i < a.extent(0); ++i) to(j) += a(i, j) * b(i, j);
        });
  }
  constexpr void cost(dm::cost_counter& c, dm::results y, dm::operands x) const {
    c.compute(2 * x[0].elements(), y.bytes() + bytes_of(x));
  }
};
/// Another: y(i, j) = c(j) x(i, j). What is linear in x is its own transpose.
template <class T> struct scale_columns_op {
  static constexpr std::string_view call = "scale_columns";
  void fill(dm::results y, dm::operands x) const {
    const auto to = dm::view_of<T, 2>(y[0]);
    const auto from = dm::view_of<const T, 2>(x[0]);
    const auto by = dm::view_of<const T, 1>(x[1]);
    using range = Kokkos::MDRangePolicy<Kokkos::Rank<2>>;
    const auto n = static_cast<index_t>(to.extent(0)), m = static_cast<index_t>(to.extent(1));
    if (to.size() > 0)
      Kokkos::parallel_for(
          "scale_columns", range({0, 0}, {n, m}),
          KOKKOS_LAMBDA(const index_t i, const index_t j) { to(i, j) = by(j) * from(i, j); });
  }
  constexpr void cost(dm::cost_counter& c, dm::results y, dm::operands x) const {
    c.compute(y[0].elements(), y.bytes() + bytes_of(x));
  }
  static constexpr bool needs(int k, unsigned wanted) {
    return (k == 0 && (wanted & 2u) != 0) || (k == 1 && (wanted & 1u) != 0);
  }
  constexpr void transpose(const auto& to) const {
    to.give(0, scale_columns_op{}, to.ybar, to.x(1));
    to.give(1, dot_columns_op<T>{}, to.ybar, to.x(0));
  }
};
struct scale_columns {
  template <class X, class C> constexpr auto operator()(const X& x, const C& c) const {
    return dm::apply_as<dm::spec_of<X>>(scale_columns_op<dm::value_of<X>>{}, x, c);
  }
};
template <class... Rule> void check_scaled_columns() {
  using L = dm::layout<plane, Rule...>;
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for (const extents& n : sizes) {
      const array a = numbers({"p", "q"}, n, 1), b = numbers({"q"}, {n[1]}, 2);
      const auto x = scattered<dm::tensor<double, L, p, q>>(g, a);
      const auto c = scattered<dm::tensor<double, L, q>>(g, b);
      const note size("a matrix of ", n[0], " x ", n[1]);
      array y = a;
      for (std::size_t i = 0; i < y.values.size(); ++i)
        y.values[i] *= b.values[i % static_cast<std::size_t>(n[1])];
      CHECK(agrees(scale_columns{}(x, c), y));
      check_operation(scale_columns{}, {}, {a, b}, x, c);
    }
  });
}

TEST_CASE("a Kokkos kernel of one's own sees blocks as Views, and is differentiated by others") {
  check_scaled_columns<dm::split<dm::uneven<p>, ::x>>();
  check_scaled_columns<dm::split<dm::uneven<q>, ::x>>();
  check_scaled_columns<dm::split<dm::uneven<p>, ::x>, dm::split<dm::uneven<q>, ::y>>();
}

TEST_CASE("nothing of this communicates") {
  const dm::grid<line> g;
  const row rows{3 * g.ranks()};
  census::reset();
  const field_view v("v", 3, 6);
  field x = dm::borrow<field>(g, v, rows);
  x.set(1, row{0}, col{2});
  dm::copy_to(v, dm::from_view<field>(g, v, rows));
  (void)dm::view_of(x);
  CHECK(census::snapshot().calls() == 0);
}

TEST_CASE("numbers that are none: an index outside, an extent that is another") {
  const dm::grid<line> g;
  const row rows{3 * g.ranks()};
  const field x = dm::zeros<field>(g, rows);
  CHECK(error_of([&] { (void)x.at(row{0}, col{6}); }) ==
        "tensor::at: index 6 of dim 'col' is outside 0..5");
  CHECK(error_of([&] { (void)x.at(row{}, col{5}); }) ==
        "tensor::at: index (none) of dim 'row' is outside 0.." + std::to_string(3 * g.ranks() - 1));
  CHECK(error_of([&] {
          (void)dm::zeros<field>(g, rows, col{5});
        }).starts_with("shape: dim 'col' has 6 elements by its type, and 5 are given"));
  CHECK(error_of([] {
          (void)field{}.at(row{0}, col{0});
        }).starts_with("tensor::at: an operand is not defined"));
  if (g.ranks() > 1 && g.rank() == 0)
    CHECK(error_of([&] { (void)x.at(row{4}, col{1}); }) ==
          "tensor::at: the element (row 4, col 1) is not on this rank, which holds row 0..2, col "
          "0..5; ask holds(...) first, or broadcast_element for every rank");
}

TEST_CASE("at: costs are counted without elements") {
  const dm::grid<line> g;
  const field x = dm::zeros<field>(g, row{3 * g.ranks()});
  const auto reads = [](const auto& v) {
    (void)v.at(row{0}, col{0});
    return v;
  };
  const std::string text = error_of([&] { (void)dm::count(reads, x); });
  CHECK(text.find(": an operand holds no elements, since costs are being counted; count a") !=
        std::string::npos);
}

}  // namespace
