// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// Tensors in another memory than the default one: a space of Kokkos that says of itself that no
// host reaches it, and no MPI. What is computed there has the bits of what is computed here;
// to_space copies blocks and their gradients, and sends nothing; structs lie in two memories;
// batches get there, each while the one before it is in use.
#include "dimesh/op/to_space.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "dimesh/dimesh.hpp"
#include "dimesh/grad/overlap.hpp"
#include "dimesh/interop/host_block.hpp"
#include "dimesh/io/data/batch.hpp"
#include "dimesh/io/data/order.hpp"
#include "dimesh/io/data/prefetch.hpp"
#include "dimesh/io/data/transform.hpp"
#include "dimesh/io/npy.hpp"
#include "dimesh/op/dispatch.hpp"
#include "dimesh/op/norm.hpp"
#include "dimesh/op/reductions.hpp"
#include "dimesh/op/scan.hpp"
#include "dimesh/op/shuffle_exchange.hpp"
#include "dimesh/op/sort.hpp"
#include "dimesh/op/sort_all_to_all.hpp"
#include "dimesh/op/start.hpp"
#include "dimesh/op/take.hpp"
#include "dimesh/optim/adam.hpp"
#include "dimesh/optim/clip.hpp"
#include "dimesh/reflect/clone.hpp"
#include "dimesh/train/histogram.hpp"
#include "support/adjoint.hpp"
#include "support/far_memory.hpp"
#include "support/scratch.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dimesh::grid;
using dimesh::layout;
using dimesh::split;

struct far : dm::mesh<test_support::x, test_support::y> {
  using space = far_memory;
};
struct on_host_too : dm::mesh<test_support::x, test_support::y> {
  using space = dm::host_space;
};
struct u : dm::axis<> {};
struct far_line : dm::mesh<u> {
  using space = far_memory;
};
template <class X>
using far_of = typename dm::detail::layout_on<typename X::layout_type, far>::type;

dm::detail::pool_figures in(const dm::detail::space_facts* s) {
  return dm::detail::pool::of(s).figures();
}
const dm::detail::space_facts* const there = dm::detail::space_of<far>;
const dm::detail::space_facts* const staged =
    &dm::detail::facts_of_memory<dm::detail::pinned_space>;

/// A grid of `far` beside that of x.
template <class X> grid<far> beside(const X& of) {
  return grid<far>(test_support::x{of.grid().template size<test_support::x>()},
                   test_support::y{of.grid().template size<test_support::y>()});
}
template <class A, class B> bool same_bits(const A& a, const B& b) {
  const dm::host_block p(a);
  const dm::host_block q(b);
  return p.size() == q.size() && std::equal(p.begin(), p.end(), q.begin());
}

/// A file's name that all ranks agree on.
struct shared_file {
  std::string path;
  shared_file() {
    int number = getpid();
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    path = (std::filesystem::temp_directory_path() /
            ("dimesh_spaces_" + std::to_string(number) + ".npy"))
               .string();
  }
  shared_file(const shared_file&) = delete;
  shared_file& operator=(const shared_file&) = delete;
  ~shared_file() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

constexpr layout_choice some{.uneven = true, .stride = 3};

TEST_CASE("a mesh says where its tensors lie, and their memory knows it") {
  CHECK(dm::detail::space_of<plane> == nullptr);
  CHECK(there != nullptr);
  CHECK_FALSE(there->is_reached);
  CHECK_FALSE(there->is_near);
  CHECK(dm::detail::facts_of_space(dm::detail::space_of<on_host_too>).is_reached);
  int n = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const grid<far> g(test_support::x{n}, test_support::y{1});
  const auto before = in(there), here = in(nullptr);
  auto x = dm::constant<dm::tensor<float, layout<far, split<dm::uneven<p>, test_support::x>>, p>>(
      g, 2, p{9});
  CHECK(x.memory().space() == there);
  CHECK(in(there).live == before.live + x.local_bytes());
  CHECK(in(nullptr).live == here.live);
  const auto twice = x + x;
  CHECK(twice.memory().space() == there);
  const auto copy = dm::clone(x);
  CHECK(copy.memory().space() == there);
  dm::fill(x, 3);
  x.set(5, p{0});
  for (dm::index_t i = 0; i < 9; ++i)
    if (x.holds(p{i})) CHECK((x.at(p{i}) == (i == 0 ? 5 : 3) && copy.at(p{i}) == 2));
}

TEST_CASE("there and back: values, adjoints, costs, and not a byte sent") {
  for_each_case<plane, some, p, q>({{4, 6}, {5, 3}}, [](auto x, const array& a) {
    const grid<far> g = beside(x);
    census::reset();
    const auto y = dm::to_space(x, g);
    CHECK(y.memory().space() == there);
    CHECK(same_bits(x, y));
    CHECK(same_bits(x, dm::to_space(y, x.grid())));
    CHECK(census::snapshot().calls() == 0);
    CHECK(agrees(y, a));
    check_operation([&](const auto& z) { return dm::to_space(z, g); }, {}, {a}, x);
    check_operation([&](const auto& z) { return dm::to_space(dm::to_space(z, g), x.grid()); }, {},
                    {a}, x);
  });
}

TEST_CASE("what is computed there has the bits of what is computed here") {
  for_each_case<plane, some, p, q>({{4, 6}, {5, 3}}, [](auto x, const array& a) {
    const grid<far> g = beside(x);
    const auto same = [&](const auto& f) {
      CHECK(same_bits(f(x), f(dm::to_space(x, g))));
      check_operation([&](const auto& z) { return f(z); }, smooth, {a}, dm::to_space(x, g));
    };
    same([](const auto& z) { return dm::complete(dm::sum<q>(z * z)); });
    same([](const auto& z) { return dm::complete(dm::einsum<p>(z, z)); });
    same([](const auto& z) { return dm::softmax<q>(dm::exp(z)); });
    same([](const auto& z) {
      using M = typename std::remove_cvref_t<decltype(z)>::mesh_type;
      return dm::relayout<layout<M, split<dm::uneven<p>, test_support::y>>>(z);
    });
  });
}

TEST_CASE("messages of what MPI cannot read go by way of the host") {
  int n = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const grid<far> g(test_support::x{n}, test_support::y{1});
  const grid<plane> h(test_support::x{n}, test_support::y{1});
  using L = layout<far, split<p, test_support::x>>;
  const auto x = dm::generate<dm::tensor<double, L, p, q>>(
      g, [](dm::index_t i, dm::index_t j) { return double(10 * i + j); }, p{4 * n}, q{3});
  const auto z = dm::to_space(x, h);
  const auto through = [&](const auto& f) {
    const auto expected = f(z);
    auto& buffers = dm::detail::pool::of(staged);
    buffers.restart_peak();
    CHECK(same_bits(expected, f(x)));
    CHECK((n == 1 || buffers.figures().peak > 0));
  };
  through([](const auto& v) { return dm::all_gather<test_support::x>(v); });
  through([](const auto& v) { return dm::await(dm::start_all_gather<test_support::x>(v)); });
  through([](const auto& v) { return dm::halo_exchange<1, p>(v); });
  through([](const auto& v) { return dm::shift<p>(v, 1); });
  through([](const auto& v) { return dm::cumsum_exscan<p>(v); });
  through([](const auto& v) { return dm::complete(dm::max<p>(v)); });
  CHECK(in(staged).live == 0);  // nothing is left under way
  CHECK(dm::to_rank(x, n - 1) == dm::to_rank(z, n - 1));
  CHECK(dm::broadcast_element(x, {4 * n - 1, 2}) == 40 * n - 10 + 2);
  const auto values = dm::to_rank(x);
  const auto again = dm::from_rank<dm::tensor<double, L, p, q>>(g, values, 0, p{4 * n}, q{3});
  CHECK(same_bits(again, z));
  const shared_file file;
  dm::save_npy(x, file.path);
  CHECK(same_bits(dm::load_npy<dm::tensor<double, L, p, q>>(g, file.path), z));
}

TEST_CASE("operations whose kernels are code of the host: on copies there, results back") {
  int n = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const grid<far> g(test_support::x{n}, test_support::y{1});
  const grid<plane> h(test_support::x{n}, test_support::y{1});
  using L = layout<plane, split<p, test_support::x>>;
  const auto z = dm::generate<dm::tensor<double, L, p, q>>(
      h, [](dm::index_t i, dm::index_t j) { return 1 + 0.25 * double((7 * i + 5 * j) % 11); },
      p{3 * n}, q{6});
  const auto x = dm::to_space(z, g);
  auto& near = dm::detail::pool::of(&dm::detail::facts_of_memory<Kokkos::HostSpace>);
  const auto same = [&](const auto& f, bool on_copies = true) {
    const auto expected = f(z);
    near.restart_peak();
    const auto before = near.figures().live;
    const auto got = f(x);
    CHECK(got.memory().space() == there);
    CHECK(same_bits(expected, got));
    CHECK(near.figures().live == before);
    CHECK((near.figures().peak > before) == on_copies);
    const auto slope = [&f](const auto& v) {
      const auto loss = [&f](const auto& w) {
        const auto y = f(w);
        return dm::complete(dm::sum(y * y));
      };
      return dm::value_and_grad(loss, v)().gradient;
    };
    if constexpr (std::is_same_v<dm::value_of<std::remove_const_t<decltype(expected)>>, double>)
      CHECK(same_bits(slope(z), slope(x)));
  };
  same([](const auto& v) { return dm::prod<q>(v); }, false);
  const bool sent = x.grid().ranks() > 1;  // messages go through the host's memory
  same([](const auto& v) { return dm::prod_all_reduce<p>(v); }, sent);
  same([](const auto& v) { return dm::var<q>(v); });
  same([](const auto& v) { return dm::var<p>(v); });
  same([](const auto& v) { return dm::compensated_sum<q>(v); });
  same([](const auto& v) { return dm::sort<q>(v); });
  same([](const auto& v) { return dm::argsort<q>(v); });
  same([](const auto& v) { return dm::sort_all_to_all<p>(v); });
  same([](const auto& v) { return dm::max<q>(v) * 2.0; }, false);
  same([](const auto& v) { return dm::shuffle<q>(dm::random_key(3), v); }, false);
  same([](const auto& v) { return dm::shuffle_exchange<p>(dm::random_key(3), v); }, sent);
  same([](const auto& v) { return dm::layer_norm<q>(v); }, false);
  const auto at = dm::generate<dm::tensor<int, layout<plane>, r>>(
      h, [](dm::index_t i) { return int(i) % 3 - 1; }, r{5});
  const auto far_at = dm::to_space(at, g);
  CHECK(same_bits(dm::take<q>(z, at), dm::take<q>(x, far_at)));
}

TEST_CASE("a started move whose kernels are code of the host runs once, recorded and watched") {
  int n = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const grid<far> g(test_support::x{n}, test_support::y{1});
  const grid<plane> h(test_support::x{n}, test_support::y{1});
  using L = layout<plane, split<p, test_support::x>>;
  const auto z = dm::generate<dm::tensor<double, L, p, q>>(
      h, [](dm::index_t i, dm::index_t j) { return 1 + double((7 * i + 5 * j) % 11); }, p{4 * n},
      q{3});
  const auto to = dm::generate<dm::tensor<int, L, p>>(
      h, [n](dm::index_t i) { return int(3 * i + 1) % (2 * n); }, p{4 * n});
  const auto x = dm::to_space(z, g);
  auto& near = dm::detail::pool::of(&dm::detail::facts_of_memory<Kokkos::HostSpace>);
  near.spoil_fresh(true);  // a copy that nobody fills is seen
  const auto moved = [](const auto& plan, const auto& v) {
    return dm::await(dm::start_all_to_all_back(plan, dm::await(dm::start_all_to_all(plan, v))));
  };
  const auto slope = [&moved](const auto& plan, const auto& v) {
    const auto loss = [&](const auto& w) {
      const auto y = moved(plan, w);
      return dm::complete(dm::sum(y * y));
    };
    return dm::value_and_grad(loss, v)().gradient;
  };
  const auto there_plan =
      dm::all_to_all_counts<p, r, test_support::x>(dm::to_space(to, g), r{2 * n});
  CHECK(same_bits(z, moved(there_plan, x)));
  CHECK(same_bits(z + z, slope(there_plan, x)));
  dm::event_list events;
  {
    const dm::watch all(events);
    CHECK(same_bits(z, moved(there_plan, x)));
  }
  CHECK_FALSE(events.events.empty());
  CHECK(in(staged).live == 0);
}

TEST_CASE("a histogram counts what lies there, by way of memory there") {
  int n = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const grid<far> g(test_support::x{n}, test_support::y{1});
  using L = layout<far, split<p, test_support::x>>;
  const auto x =
      dm::generate<dm::tensor<double, L, p>>(g, [](dm::index_t i) { return double(i); }, p{4 * n});
  auto& own = dm::detail::pool::of(there);
  own.restart_peak();
  const auto before = own.figures().live;
  const auto h = dm::histogram_of(x);
  CHECK(h.count == 4 * n);
  CHECK(h.sum == 2.0 * n * (4 * n - 1));
  CHECK(own.figures().peak == before + x.local_bytes());
}

TEST_CASE("to a mesh of other axes in the other memory, and the way back") {
  for_each_case<plane, some, p, q>({{4, 6}}, [](auto x, const array& a) {
    int n = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    const grid<far_line> g(u{n});
    for_each_layout<far_line, dm::detail::list<p, q>, some>([&](auto t) {
      using L = typename decltype(t)::type;
      const auto f = [&](const auto& z) { return dm::relayout<L>(z, g); };
      CHECK(agrees(f(x), a));
      check_operation(f, {}, {a}, x);
    });
  });
}

template <class L, class K> struct weights {
  BOOST_HANA_DEFINE_STRUCT(weights, (dm::tensor<double, L, p, q>, near),
                           (dm::tensor<double, K, q>, apart));
};
template <class M> using in_two = weights<layout<plane>, layout<M, split<q, test_support::x>>>;

template <class M> in_two<M> begin(const grid<plane>& g, const grid<M>& h, dm::index_t n) {
  in_two<M> w{
      dm::generate<decltype(in_two<M>::near)>(
          g, [](dm::index_t i, dm::index_t j) { return 0.5 * double(i) - 0.25 * double(j); }, p{3},
          q{2 * n}),
      dm::generate<decltype(in_two<M>::apart)>(
          h, [](dm::index_t i) { return 1 + 0.125 * double(i); }, q{2 * n})};
  return w;
}
/// A loss of both.
struct joint {
  const grid<plane>& g;
  template <class W> constexpr auto operator()(const W& w) const {
    const auto whole = dm::all_gather<test_support::x>(dm::to_space(w.apart, g));
    return dm::complete(dm::sum(dm::square(w.near * whole)));
  }
};
/// Three steps on weights of which one lies on mesh M.
template <class M> auto trained(const grid<plane>& g, const grid<M>& h, dm::index_t n) {
  auto w = begin(g, h, n);
  const dm::adam rule{.rate = 0.1};
  auto state = rule.start(w);
  for (int step = 0; step < 3; ++step) {
    auto gradient = dm::complete(std::move(dm::value_and_grad(joint{g}, w)().gradient));
    dm::clip_by_global_norm(gradient, 1);
    rule(w, gradient, state);
  }
  return w;
}

TEST_CASE("a struct in two memories: its gradients, their norm and Adam's steps") {
  int n = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const grid<plane> g(test_support::x{n}, test_support::y{1});
  const grid<far> h(test_support::x{n}, test_support::y{1});
  const auto one = trained(g, g, n);
  const auto two = trained(g, h, n);
  CHECK(two.apart.memory().space() == there);
  CHECK(two.near.memory().space() == nullptr);
  CHECK(same_bits(one.near, two.near));
  CHECK(same_bits(one.apart, two.apart));
  const auto w = begin(g, h, n);
  CHECK(thrown([&] {
          (void)dm::value_and_grad_all_reduce(joint{g}, w)();
        }).find("let their meshes name the same space") != std::string::npos);
}

TEST_CASE("grids whose ranks stand elsewhere are refused, on every rank") {
  int n = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (n == 1) return;
  const grid<plane> g(test_support::x{n}, test_support::y{1});
  const grid<far> h(test_support::x{1}, test_support::y{n});
  const auto x = dm::constant<dm::tensor<float, layout<plane>, p>>(g, 1, p{4});
  CHECK_THROWS_WITH_AS((void)dm::to_space(x, h),
                       "to_space: the two grids have their ranks at other coordinates; make both "
                       "of the same sizes over one communicator, or relayout<layout>(x, grid)",
                       dm::error);
}

template <class L> struct examples {
  BOOST_HANA_DEFINE_STRUCT(examples, (dm::tensor<double, L, p, q>, x),
                           (dm::tensor<std::int32_t, L, p>, number),
                           (dm::tensor<float, L, p>, mask));
};
/// Batches of four: of the ten records of an epoch two full ones, and one of two records.
template <class M> struct examples_on {
  grid<M> g;
  std::atomic<dm::index_t> begun{0};  // of this rank's records
  std::atomic<bool> fails{false};

  auto load(int threads) {
    const auto made = [this](dm::index_t i) {
      ++begun;
      if (i == 5 && fails) throw std::runtime_error("no 5");
      const double v = static_cast<double>(i);
      return std::tuple(std::vector<double>{v, v + 0.25}, i);
    };
    using S = examples<layout<M, split<p, test_support::x>>>;
    return dm::input::numbers(10) | dm::input::shuffle(3) | dm::input::map(made) |
           dm::input::batch<S>(g, p{4}, dm::input::last_batch::pad, q{2}) |
           dm::input::prefetch(threads, 8);
  }
};
constexpr auto same_records = [](const auto& a, const auto& b) {
  return same_bits(a.x, b.x) && same_bits(a.number, b.number) && same_bits(a.mask, b.mask);
};

TEST_CASE("batches get there, and the next one before it is asked for") {
  int n = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  examples_on<plane> near{grid<plane>(test_support::x{n}, test_support::y{1})};
  examples_on<far> away{grid<far>(test_support::x{n}, test_support::y{1})};
  auto here = near.load(0);
  auto load = away.load(1);
  const auto none = in(there).live;
  const auto own = [&](dm::index_t batch) {
    const dm::index_t rows = 4 / n, before = rows * away.g.template coord<test_support::x>();
    return std::clamp<dm::index_t>((batch % 3 == 2 ? 2 : 4) - before, 0, rows);
  };
  dm::index_t until_next = own(0);
  for (dm::index_t k = 0; k < 10; ++k) {
    // One thread makes them in turn: when it is behind the next batch, that one is ready.
    until_next += own(k + 1);
    while (away.begun <= until_next) std::this_thread::yield();
    const auto b = load.next();
    CHECK(b.x.memory().space() == there);
    CHECK(same_records(b, here.next()));
    CHECK(load.records() == here.records());
    CHECK(load.position() == here.position());
    const auto bytes = b.x.local_bytes() + b.number.local_bytes() + b.mask.local_bytes();
    CHECK(in(there).live == none + 2 * bytes);
  }
  const auto go_to = [&](dm::input::position at) { load.seek(at), here.seek(at); };
  go_to({1, 4});  // what was on its way is given up
  CHECK(in(there).live == none);
  CHECK(same_records(load.next(), here.next()));
  near.fails = away.fails = true;
  go_to({7, 0});
  int bad = 0;
  for (int k = 0; k < 9; ++k) {
    bool same = false;
    const std::string said = thrown([&] {
      const auto b = load.next();
      same = same_records(b, here.next());
    });
    if (said == "nothing") {
      CHECK(same);
      continue;
    }
    CHECK(said == thrown([&] { (void)here.next(); }));
    ++bad;
    const auto at = load.position();
    go_to({at.epoch, std::min<dm::index_t>(10, at.record + 4)});
  }
  CHECK(bad == 3);
}

}  // namespace
