// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 1350 5179 11507
// relayout between two meshes of the same ranks: from every layout of one to every layout of the
// other, values, bytes and gradients; communicators that number the ranks differently.
#include "dimesh/op/relayout_across.hpp"

#include <doctest/doctest.h>

#include "dimesh/dimesh.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/grad/jvp.hpp"
#include "dimesh/grad/vjp.hpp"
#include "dimesh/op/cuts.hpp"
#include "dimesh/op/is_legal.hpp"
#include "support/adjoint.hpp"
#include "support/host.hpp"

namespace {
using namespace test_support;
using dimesh::grid;
using dimesh::layout;
using dimesh::split;

struct u : dimesh::axis<> {};
struct v : dimesh::axis<> {};
struct other : dimesh::mesh<u, v> {};

int world() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}
/// The ranks of the world the other way round, or turned by one.
struct numbered {
  MPI_Comm comm = MPI_COMM_NULL;
  explicit numbered(int how) {
    int n = 0, r = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    MPI_Comm_split(MPI_COMM_WORLD, 0, how == 0 ? r : how == 1 ? n - r : (r + 1) % n, &comm);
  }
  ~numbered() { MPI_Comm_free(&comm); }
  numbered(const numbered&) = delete;
  numbered& operator=(const numbered&) = delete;
};

/// Every shape of the second mesh, over the ranks in some order.
template <class F> void for_each_other(int how, const F& f) {
  const numbered ranks(how);
  for_each_sizes<other>(world(), [&](const dimesh::mesh_sizes<other>& s) {
    const grid<other> g(ranks.comm, u{s[0]}, v{s[1]});
    INFO("to a mesh of ", s[0], " x ", s[1], ", ranks numbered in way ", how);
    f(g);
  });
}
// Samples: all pairs have their law in laws_across.cpp.
constexpr layout_choice every_third{.uneven = true, .stride = 3};
constexpr layout_choice every_fourth{.uneven = true, .stride = 4, .first = 1};
constexpr layout_choice few{.uneven = true, .stride = 5};

TEST_CASE("ranks in another order: they are translated") {
  for_each_case<plane, every_fourth, p, q>({{4, 6}, {5, 3}}, [](auto x, const array& a) {
    for (const int how : {1, 2})
      for_each_other(how, [&](const grid<other>& g) {
        for_each_layout<other, dimesh::detail::list<p, q>, every_third>([&](auto t) {
          const auto y = dimesh::relayout<typename decltype(t)::type>(x, g);
          CHECK(agrees(y, a));
          CHECK(agrees(dimesh::relayout<typename decltype(x)::layout_type>(y, x.grid()), a));
        });
      });
  });
}

TEST_CASE("a mesh of one axis, one of three, and two grids of one mesh") {
  for_each_case<line, unevenly, p, q, r>({{2, 3, 4}, {1, 2, 5}}, [](auto x, const array& a) {
    for_each_grid<cube>([&](const grid<cube>& g) {
      constexpr layout_choice some{.uneven = true, .stride = 9, .first = 4};
      for_each_layout<cube, dimesh::detail::list<p, q, r>, some>([&](auto t) {
        const auto y = dimesh::relayout<typename decltype(t)::type>(x, g);
        CHECK(agrees(y, a));
        CHECK(agrees(
            dimesh::relayout<layout<line, split<dimesh::uneven<r>, test_support::x>>>(y, x.grid()),
            a));
      });
    });
    const grid<line> again(test_support::x{world()});
    CHECK(agrees(dimesh::relayout<layout<line>>(x, again), a));
  });
}

TEST_CASE("adjoint and cost: addends that differ, and values to be counted once") {
  for_each_case<plane, every_third, p, q>({{4, 6}, {5, 3}}, [](auto x, const array& a) {
    for_each_other(0, [&](const grid<other>& g) {
      for_each_layout<other, dimesh::detail::list<p, q>, every_third>([&](auto t) {
        using L = typename decltype(t)::type;
        INFO("to ", std::string(dimesh::detail::spelled<L>()));
        const auto f = [&](const auto& z) { return dimesh::relayout<L>(z, g); };
        check_operation(f, {}, {a}, x);
        CHECK(costs_as_foreseen(f, x));
      });
    });
  });
}

TEST_CASE("there, something local, and back: the gradient, and none of it sent twice") {
  for_each_case<plane, every_fourth, p, q>({{4, 6}, {5, 3}}, [](auto x, const array& a) {
    using X = decltype(x);
    for_each_other(1, [&](const grid<other>& g) {
      for_each_layout<other, dimesh::detail::list<p, q>, few>([&](auto t) {
        using L = typename decltype(t)::type;
        const auto f = [&](const auto& z) {
          const auto there = dimesh::relayout<L>(z, g);
          const auto back = dimesh::relayout<typename X::layout_type>(there * there, z.grid());
          return dimesh::complete(dimesh::sum(back));
        };
        const auto step = dimesh::value_and_grad(f, x)();
        array twice = a;
        double sum = 0;
        for (double& value : twice.values) sum += value * value, value *= 2;
        CHECK(dimesh::value(step.value) == doctest::Approx(sum));
        const auto whole = dimesh::complete(step.gradient);
        CHECK(agrees(whole, twice));
        // Tangents, and gradients of gradients.
        const auto moved = dimesh::jvp(f, x, x);
        CHECK(dimesh::value(moved.tangent) == doctest::Approx(2 * sum));
        const auto second = dimesh::value_and_grad(
            [&](const auto& z) {
              const auto inner = dimesh::complete(dimesh::value_and_grad(f, z)());
              return dimesh::complete(dimesh::sum(dimesh::square(inner.gradient)));
            },
            x)();
        array eight = a;
        for (double& value : eight.values) value *= 8;
        CHECK(agrees(dimesh::complete(second.gradient), eight));
      });
    });
  });
}

/// n elements in a block for each rank; of even numbers the first is empty, of others the last.
template <class D> dimesh::cuts<D> cut_up(index_t n) {
  std::vector<double> weight;
  for (int i = 0; i < world(); ++i)
    weight.push_back(world() == 1 ? 1 : n % 2 == 0 ? i : world() - 1 - i);
  return dimesh::cuts_by_speed<D>(n, weight);
}

TEST_CASE("ragged blocks on either mesh, or on both: values, bytes, and the way back") {
  static constexpr layout_choice raggedly{.ragged = true, .stride = 4, .first = 1};
  static constexpr layout_choice some_raggedly{.ragged = true, .stride = 3, .first = 2};
  for_each_grid<plane>([](const grid<plane>& h) {
    const auto check = [&](auto from) {
      using X = dimesh::tensor<double, typename decltype(from)::type, p, q>;
      INFO("from ", std::string(dimesh::detail::spelled<typename X::layout_type>()));
      for (const extents& n : {extents{7, 4}, extents{2, 5}, extents{0, 3}}) {
        const array a = numbers({"p", "q"}, n, 1);
        const auto uncut = scattered<X>(h, a, cut_up<p>(n[0]), cut_up<q>(n[1]));
        // Cuts stay with what was made with them; what was not gets them by with_cuts.
        const auto x =
            dimesh::with_cuts(dimesh::with_cuts(uncut, cut_up<p>(n[0])), cut_up<q>(n[1]));
        for_each_other(n[0] == 7 ? 1 : 0, [&](const grid<other>& g) {
          const auto to = [&](auto t) {
            using L = typename decltype(t)::type;
            INFO("to ", std::string(dimesh::detail::spelled<L>()));
            const auto f = [&](const auto& z) { return dimesh::relayout<L>(z, g); };
            const auto y = f(x);
            CHECK(agrees(y, a));
            CHECK(agrees(dimesh::relayout<typename X::layout_type>(y, h), a));
            const operation_report r = run_adjoint(f, n[1] % 2 == 0 ? ~0u : 0, 1, {a}, x);
            CHECK(std::abs(r.tangent - r.cotangent) <= 1e-12 * std::max(1.0, std::abs(r.tangent)));
            if (n[0] == 7) return;  // shapes know no other numbering of the ranks
            CHECK(costs_as_foreseen(f, x));
            CHECK(r.forward == "");
            CHECK(r.backward == "");
          };
          for_each_layout<other, dimesh::detail::list<p, q>, some_raggedly>(to);
          for_each_layout<other, dimesh::detail::list<p, q>, few>(to);
        });
      }
    };
    for_each_layout<plane, dimesh::detail::list<p, q>, raggedly>(check);
    for_each_layout<plane, dimesh::detail::list<p, q>, few>(check);
  });
}

TEST_CASE("ragged blocks on the other mesh, and nothing that says where they are cut") {
  const grid<plane> h(test_support::x{1}, test_support::y{world()});
  const grid<other> g(u{world()}, v{1});
  const dimesh::tensor<double, layout<plane>, p> x(h, p{7});
  using L = layout<other, split<dimesh::ragged<p>, u>>;
  std::string text;
  try {
    (void)dimesh::relayout<L>(x, g);
  } catch (const dimesh::error& e) {
    text = e.what();
  }
  CHECK(text.find("nothing says where they are cut") != std::string::npos);
  const auto few_cuts = dimesh::with_cuts(x, dimesh::cuts<p>{3, 4});
  if (world() <= 2) return;
  text.clear();
  try {
    (void)dimesh::relayout<L>(few_cuts, g);
  } catch (const dimesh::error& e) {
    text = e.what();
  }
  CHECK(text.find("its cuts are for 2 blocks of 7;") != std::string::npos);
}

TEST_CASE("a move that begins gives what the call gives, at its cost; two at once; gradients") {
  for_each_case<plane, every_third, p, q>({{4, 6}, {5, 3}, {0, 2}}, [](auto x, const array& a) {
    using X = decltype(x);
    for_each_other(1, [&](const grid<other>& g) {
      for_each_layout<other, dimesh::detail::list<p, q>, every_third>([&](auto t) {
        using L = typename decltype(t)::type;
        INFO("to ", std::string(dimesh::detail::spelled<L>()));
        const auto seen_in = [](const auto& f) {
          census::reset();
          f();
          return census::snapshot();
        };
        const auto blocking = seen_in([&] { (void)dimesh::relayout<L>(x, g); });
        const auto started = seen_in([&] {
          auto coming = dimesh::start_relayout<L>(x, g);
          CHECK(agrees(dimesh::await(std::move(coming)), a));
        });
        CHECK(started == blocking);
        std::vector<dimesh::event> ends;  // they name the axes of one mesh
        dimesh::event_list events;
        {
          const dimesh::watch here(events);
          (void)dimesh::await(dimesh::start_relayout<L>(x, g));
        }
        for (const dimesh::event& e : events.events)
          if (e.part != dimesh::event_part::whole && e.axes != 0) ends.push_back(e);
        for (const dimesh::event& e : ends)
          CHECK((e.mesh == ends[0].mesh && e.axes == ends[0].axes));
        auto there = dimesh::start_relayout<L>(x, g);
        auto twice = dimesh::start_relayout<L>(x + x, g);  // of what is gone by now
        const auto sum = dimesh::await(std::move(twice)) - dimesh::await(std::move(there));
        CHECK(agrees(sum, a));
        (void)dimesh::start_relayout<L>(x, g).ready();  // dropped
        auto back = dimesh::start_relayout<typename X::layout_type>(sum, x);  // to where x lives
        CHECK(agrees(dimesh::await(std::move(back)), a));
        const auto f = [&](const auto& z) {
          return dimesh::await(dimesh::start_relayout<L>(z * 3, g));
        };
        const operation_report r = run_adjoint(f, 0, 1, {a}, x);
        CHECK(std::abs(r.tangent - r.cotangent) <= 1e-12 * std::max(1.0, std::abs(r.tangent)));
      });
    });
  });
}

TEST_CASE("copies are got from all that hold them, in turn") {
  if (world() != 4) return;
  const grid<plane> h(test_support::x{2}, test_support::y{2});
  const grid<other> g(u{1}, v{4});
  using X = dimesh::tensor<float, layout<plane, split<p, test_support::x>>, p>;
  X x(h, p{8});
  dimesh::fill_by(x, [](index_t i) { return float(i); });
  census::reset();
  const auto y = dimesh::relayout<layout<other>>(x, g);  // each half has two holders, two takers
  CHECK(census::snapshot().bytes() == 4 * 4);
  for (index_t i = 0; i < 8; ++i) CHECK(test_support::on_host(y)[i] == float(i));
}

TEST_CASE("no rank packs more copies of its block than the plan says") {
  if (world() != 4) return;
  const grid<plane> g(test_support::x{4}, test_support::y{1});
  const grid<other> h(u{2}, v{2});
  const dimesh::tensor<float, layout<plane, split<dimesh::uneven<p>, test_support::x>>, p, q> a(
      g, p{5}, q{2});
  const dimesh::tensor<float, layout<other, split<q, u>>, p, q> b(h, p{5}, q{2});
  const auto where = [](const auto& t) { return dimesh::detail::placement_of(t); };
  const dimesh::detail::across two(where(a), dimesh::detail::core_of(a).layout(), where(b),
                                   dimesh::detail::core_of(b).layout());
  index_t sent = 0;
  two.each_sent(0, [&sent](index_t, const dimesh::detail::box& part) { sent += part.size(); });
  CHECK(sent == 6);
  CHECK(two.most() >= sent);
}

TEST_CASE("a way back to a grid that is gone is an error") {
  auto h = std::make_unique<grid<plane>>(test_support::x{world()}, test_support::y{1});
  const grid<other> g(u{1}, v{world()});
  using X = dimesh::tensor<float, layout<plane, split<dimesh::uneven<p>, test_support::x>>, p>;
  const X x = dimesh::constant<X>(*h, 1, p{8});
  auto run = dimesh::vjp([&](const auto& z) { return dimesh::relayout<layout<other>>(z, g); }, x);
  const auto ybar = dimesh::constant<
      dimesh::tensor<float, layout<other, dimesh::partial<u>, dimesh::partial<v>>, p>>(g, 1, p{8});
  h.reset();
  std::string text;
  try {
    (void)run.pullback(ybar);
  } catch (const dimesh::error& e) {
    text = e.what();
  }
  CHECK(text.find("relayout: one of the two grids is gone") != std::string::npos);
}

TEST_CASE("grids over other ranks: every rank says so") {
  const grid<plane> h(test_support::x{world()}, test_support::y{1});
  MPI_Comm half = MPI_COMM_NULL;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half);
  if (world() > 1) {
    int size = 0;
    MPI_Comm_size(half, &size);
    const grid<other> g(half, u{1}, v{size});
    using X = dimesh::tensor<float, layout<plane>, p>;
    const X x = dimesh::constant<X>(h, 1, p{8});
    std::string text;
    try {
      (void)dimesh::relayout<layout<other>>(x, g);
    } catch (const dimesh::error& e) {
      text = e.what();
    }
    CHECK(text.find("are not over the same ranks; make both over one communicator") !=
          std::string::npos);
  }
  MPI_Comm_free(&half);
}

// Static sizes: the cost as a constant.
struct row2 : dimesh::axis<2> {};
struct col2 : dimesh::axis<2> {};
struct all4 : dimesh::axis<4> {};
struct square_mesh : dimesh::mesh<row2, col2> {};
struct long_mesh : dimesh::mesh<all4> {};
struct d8 : dimesh::dim<8> {};
struct to_long {
  template <class X> constexpr auto operator()(const X& x) const {
    return dimesh::relayout<layout<long_mesh, split<d8, all4>>>(x, dimesh::mesh_sizes<long_mesh>{});
  }
};
struct to_whole {
  template <class X> constexpr auto operator()(const X& x) const {
    return dimesh::relayout<layout<long_mesh>>(x, dimesh::mesh_sizes<long_mesh>{});
  }
};
using rows_shape = dimesh::tensor<float, dimesh::shaped<layout<square_mesh, split<d8, row2>>>, d8>;
using both_shape =
    dimesh::tensor<float, dimesh::shaped<layout<square_mesh, split<d8, row2, col2>>>, d8>;
static_assert(dimesh::cost_of<to_long, rows_shape>.bytes<> == 0);  // a part of what is there
static_assert(dimesh::cost_of<to_long, both_shape>.bytes<> == 0);  // the same blocks
static_assert(dimesh::cost_of<to_whole, both_shape>.bytes<> == 3 * 2 * 4);
static_assert(dimesh::cost_of<to_whole, rows_shape>.bytes<row2, col2> == 4 * 4);
using there = layout<long_mesh, split<d8, all4>>;
static_assert(dimesh::is_relayoutable_to<rows_shape, there, long_mesh>);
static_assert(!dimesh::is_relayoutable_to<rows_shape, there, square_mesh>);
// Addends end in the new blocks, where these can be the parts of a sum that is scattered; what is
// replicated is cut for it, and nothing of it gathered that the new blocks do not hold.
template <class... Rule>
using held = dimesh::tensor<float, dimesh::shaped<layout<square_mesh, Rule...>>, d8>;
using addends = held<dimesh::partial<row2>, dimesh::partial<col2>>;
using row_addends = held<dimesh::partial<row2>>;
static_assert(dimesh::cost_of<to_long, addends>.ring_bytes<> == 3 * 2 * 4);
static_assert(dimesh::cost_of<to_long, addends>.calls<> == 1);
static_assert(dimesh::cost_of<to_long, row_addends>.ring_bytes<> <= 2 * 4 + 2 * 4);
static_assert(dimesh::cost_of<to_whole, addends>.ring_bytes<> == 2 * 3 * 2 * 4);
static_assert(dimesh::cost_of<to_whole, addends>.calls<> == 1);
static_assert(
    dimesh::cost_of<to_whole, held<split<d8, row2>, dimesh::partial<col2>>>.ring_bytes<> ==
    2 * 4 + 3 * 2 * 4);
// Places: one message's worth, to the rank that is to hold it.
struct to_last {
  template <class X> constexpr auto operator()(const X& x) const {
    return dimesh::relayout<layout<long_mesh, dimesh::placed<all4, 3>>>(
        x, dimesh::mesh_sizes<long_mesh>{});
  }
};
static_assert(
    dimesh::cost_of<to_last, held<dimesh::placed<row2, 0>, dimesh::placed<col2, 0>>>.bytes<> ==
    8 * 4);
static_assert(
    dimesh::cost_of<to_last, held<dimesh::placed<row2, 1>, dimesh::placed<col2, 1>>>.bytes<> == 0);
static_assert(
    dimesh::is_relayoutable_to<
        dimesh::tensor<float, layout<square_mesh, dimesh::partial<row2>>, d8>, there, long_mesh>);
static_assert(!dimesh::is_relayoutable_to<
              dimesh::tensor<float, layout<square_mesh, dimesh::partial_max<row2>>, d8>, there,
              long_mesh>);
static_assert(std::is_same_v<decltype(to_long{}(rows_shape{}))::layout_type,
                             layout<long_mesh, split<d8, all4>>>);

}  // namespace
