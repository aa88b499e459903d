// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// Several meshes over the same ranks, several grids of one mesh, grids on a part of the ranks:
// tensors and structs of them live side by side, and what is done to a struct is done over the grid
// of each tensor.
#include <dimesh/dimesh.hpp>

#include <doctest/doctest.h>

#include <census.hpp>
#include <memory>
#include <sstream>
#include <tuple>

#include "dimesh/grad/accumulate.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/grad/overlap.hpp"
#include "dimesh/grad/recompute.hpp"
#include "dimesh/ledger/time_estimate.hpp"
#include "dimesh/optim/adafactor.hpp"
#include "dimesh/optim/adam.hpp"
#include "dimesh/optim/clip.hpp"
#include "dimesh/optim/sgd.hpp"
#include "dimesh/optim/sharded.hpp"
#include "dimesh/optim/shards.hpp"
#include "dimesh/reflect/clone.hpp"
#include "dimesh/show/events.hpp"
#include "dimesh/show/print.hpp"
#include "support/host.hpp"

namespace {
namespace dm = dimesh;
using dm::index_t;

// A dense mesh, and the experts' own over the same ranks.
struct data : dm::axis<> {};
struct model : dm::axis<> {};
struct owner : dm::axis<> {};
struct copy : dm::axis<> {};
struct dense : dm::mesh<data, model> {};
struct experts : dm::mesh<owner, copy> {};

struct in : dm::dim<4> {};
struct out : dm::dim<8> {};
struct expert : dm::dim<4> {};

using dense_layout = dm::layout<dense, dm::split<out, model>>;
using expert_layout = dm::layout<experts, dm::split<expert, owner>>;

/// Parameters on both.
template <class L, class K> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<double, L, in, out>, w),
                           (dm::tensor<double, K, expert, in>, e), (dm::tensor<double, L, out>, b));
};
using net = network<dense_layout, expert_layout>;

int ranks() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}
int rank() {
  int r = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  return r;
}
/// dense: 2 x 2 or n x 1; experts: n x 1, or 2 x 2 turned about.
struct both {
  dm::grid<dense> g{data{ranks() == 4 ? 2 : ranks()}, model{ranks() == 4 ? 2 : 1}};
  dm::grid<experts> h{owner{ranks() == 4 ? 2 : 1}, copy{ranks() == 4 ? 2 : ranks()}};
  net made() const {
    net p = dm::make<net>(dm::grids(g, h));
    dm::fill_by(p.w, [](index_t i, index_t o) { return 0.25 * double(i) - 0.125 * double(o); });
    dm::fill_by(p.e, [](index_t e, index_t i) { return 0.5 * double(e) - 0.25 * double(i); });
    dm::fill(p.b, 1);
    return p;
  }
};
/// A quadratic loss whose terms live on either mesh: they meet as numbers.
struct loss_of_w {
  template <class P> constexpr auto operator()(const P& p) const {
    return dm::sum(dm::square(p.w)) + dm::sum(dm::square(p.b));
  }
};
struct loss_of_e {
  template <class P> constexpr auto operator()(const P& p) const {
    return dm::sum(dm::square(p.e));
  }
};
template <class X> bool holds(const X& x, double factor, const X& of) {
  bool all = x.local_size() == of.local_size();
  for (index_t i = 0; all && i < x.local_size(); ++i)
    all = std::abs(test_support::on_host(x)[i] - factor * test_support::on_host(of)[i]) < 1e-12;
  return all;
}
/// An addend of 1 on every rank.
template <class X, class G> X addends(const G& g) {
  X x(g);
  for (index_t i = 0; i < x.local_size(); ++i) test_support::on_host(x)[i] = 1;
  return x;
}
template <class F> std::string error_of(const F& f) {
  try {
    f();
  } catch (const dm::error& e) {
    return e.what();
  }
  return "";
}

TEST_CASE("a struct over two meshes: make, fill, walk, clone, gather, print") {
  const both on;
  const net p = on.made();
  CHECK(&p.w.grid() == &on.g);
  CHECK(&p.e.grid() == &on.h);
  std::string paths;
  dm::for_each_tensor([&](const auto& path, const auto& x) { paths += path.text() + describe(x); },
                      p);
  CHECK(paths.find("w") == 0);
  CHECK(paths.find("/model") != std::string::npos);
  CHECK(paths.find("/owner") != std::string::npos);
  net q = dm::clone(p);
  dm::rescale(q, 3);
  CHECK(holds(q.w, 3, p.w));
  CHECK(holds(q.e, 3, p.e));
  const auto whole = dm::to_rank(p.e);
  if (rank() == 0) {
    REQUIRE(whole.size() == 16);
    CHECK(whole[13] == 0.5 * 3 - 0.25);
  }
  std::ostringstream text;
  dm::print_gathered(p.e, text);
  CHECK((rank() != 0 || text.str().find("-0.75") != std::string::npos));
  const net z = dm::zeros<net>(dm::grids(on.h, on.g));  // in any order
  CHECK(holds(z.b, 0, p.b));
  const auto e = dm::empty_like(p);
  CHECK(&e.e.grid() == &on.h);
}

TEST_CASE("a gradient of parameters on two meshes, each of its own part; complete, clip, steps") {
  const both on;
  net p = on.made();
  const auto start = dm::clone(p);
  auto one = dm::value_and_grad(loss_of_w{}, p)();
  auto two = dm::value_and_grad(loss_of_e{}, p)();
  const auto g = dm::complete(std::move(one.gradient));
  const auto k = dm::complete(std::move(two.gradient));
  CHECK(holds(g.w, 2, p.w));
  CHECK(holds(g.b, 2, p.b));
  CHECK(holds(g.e, 0, p.e));
  CHECK(holds(k.e, 2, p.e));
  CHECK(holds(k.w, 0, p.w));

  net all{g.w, k.e, g.b};
  double squares = 0;
  for (int i = 0; i < 4; ++i)
    for (int o = 0; o < 8; ++o) squares += std::pow(0.5 * i - 0.25 * o, 2);
  for (int x = 0; x < 4; ++x)
    for (int i = 0; i < 4; ++i) squares += std::pow(1.0 * x - 0.5 * i, 2);
  squares += 8 * 4;
  CHECK(dm::global_norm(all) == doctest::Approx(std::sqrt(squares)));
  CHECK(dm::clip_by_global_norm(all, 1.0) == doctest::Approx(std::sqrt(squares)));
  CHECK(dm::global_norm(all) == doctest::Approx(1));

  dm::sgd{.rate = 0.25}(p, net{g.w, k.e, g.b});  // p - 0.25 * 2 p
  CHECK(holds(p.w, 0.5, start.w));
  CHECK(holds(p.e, 0.5, start.e));
  CHECK(holds(p.b, 0.5, start.b));
  const dm::adam adam{.rate = 0.1};
  auto state = adam.start(p);
  adam(p, all, state);
  CHECK(&state.first.e.grid() == &on.h);
  CHECK(state.steps == 1);

  auto sum = dm::accumulate(2, [&](index_t) { return dm::value_and_grad(loss_of_e{}, p)(); });
  CHECK(holds(dm::complete(std::move(sum.gradient)).e, 2, p.e));
}

TEST_CASE("value_and_grad of terms on two meshes that meet in one loss, by way of relayout") {
  const both on;
  const net p = on.made();
  const auto step = dm::value_and_grad(
      [&](const auto& q) {
        const auto there = dm::relayout<dm::layout<dense>>(dm::complete(loss_of_e{}(q)), on.g);
        return dm::complete(loss_of_w{}(q)) + there;
      },
      p)();
  const auto whole = dm::complete(std::move(step.gradient));
  CHECK(holds(whole.w, 2, p.w));
  CHECK(holds(whole.e, 2, p.e));
}

TEST_CASE("sums that start during the backward pass, and a block that is computed twice") {
  const both on;
  const net p = on.made();
  const auto there = [&](const auto& q) {
    return dm::complete(loss_of_w{}(q)) +
           dm::relayout<dm::layout<dense>>(dm::complete(loss_of_e{}(q)), on.g);
  };
  for (const index_t bucket : {16, 1 << 20}) {
    const auto early = dm::value_and_grad_all_reduce(there, p, {.bucket = bucket})();
    CHECK(holds(early.gradient.w, 2, p.w));
    CHECK(holds(early.gradient.e, 2, p.e));
    CHECK(holds(early.gradient.b, 2, p.b));
  }
  const auto twice = dm::complete(dm::value_and_grad(
      [&](const auto& q) { return dm::recompute([&](const auto& e) { return there(e); })(q); },
      p)());
  CHECK(holds(twice.gradient.w, 2, p.w));
  CHECK(holds(twice.gradient.e, 2, p.e));
}

TEST_CASE("shards by a rule of one mesh: tensors on the other stay whole") {
  const both on;
  const net p = on.made();
  using rule = dm::layout<dense, dm::spread<data>>;
  const auto s = dm::shards_of<rule>(p);
  CHECK(s.w.local_size() * on.g.size<data>() == p.w.local_size());
  CHECK(s.e.local_size() == p.e.local_size());
  auto step = dm::value_and_grad(loss_of_w{}, p)();
  const auto g = dm::reduce_scatter_together<rule>(step.gradient);
  CHECK(holds(g.w, 2, s.w));
  CHECK(holds(g.e, 0, p.e));
}

TEST_CASE("one pass over a struct sums over each tensor's grid, and the ledger says so") {
  const both on;
  using G = network<dm::gradient<dense_layout>, dm::gradient<expert_layout>>;
  const G g{addends<decltype(G::w)>(on.g), addends<decltype(G::e)>(on.h),
            addends<decltype(G::b)>(on.g)};
  const auto finish = [](const auto& x) { return dm::complete(x); };
  dm::event_list list;
  census::reset();
  {
    const dm::watch all(list);
    const auto sum = finish(g);
    CHECK(test_support::on_host(sum.w)[0] == double(on.g.size<data>()));
    CHECK(test_support::on_host(sum.e)[0] == double(on.h.size<copy>()));
  }
  const auto seen = census::snapshot();
  const auto foreseen = dm::count(finish, dm::shapes_of(g));
  CHECK(foreseen.bytes<>() == seen.bytes());
  CHECK(foreseen.on<dense>().bytes<>() + foreseen.on<experts>().bytes<>() == seen.bytes());
  CHECK(foreseen.on<experts>().bytes<copy>() == (on.h.size<copy>() > 1 ? 8 * g.e.local_size() : 0));
  CHECK(foreseen.bytes<data>() ==
        (on.g.size<data>() > 1 ? 8 * (g.w.local_size() + g.b.local_size()) : 0));
  CHECK(foreseen.on<experts>().bytes<owner>() == 0);
  const auto log = dm::events_on(on.g, list.events, on.h);
  CHECK(log.total().bytes<>() == seen.bytes());
  CHECK(log.total().on<experts>().counts.over == foreseen.on<experts>().counts.over);
  if (ranks() > 1) {
    CHECK(dm::events_table(log).find("copy") != std::string::npos);
    CHECK(dm::events_table(dm::events_of(finish, dm::shapes_of(g))).find("copy") !=
          std::string::npos);
    for (const dm::event& e : log.events)
      if (is_communication(e.kind)) CHECK(log.ranks(e) > 1);
  }
  dm::time_estimate t(dm::machine{}, log.sizes);
  t.also(dm::mesh_sizes<experts>(owner{on.h.size<owner>()}, copy{on.h.size<copy>()}));
  log.replay(t);
  CHECK(t.of(dm::event_kind::all_reduce).events == seen.calls());
}

TEST_CASE("operands on two grids: an error that names the call, on every rank") {
  const both on;
  const dm::grid<dense> again(data{on.g.size<data>()}, model{on.g.size<model>()});
  using X = dm::tensor<double, dense_layout, in, out>;
  const auto x = dm::constant<X>(on.g, 1), y = dm::constant<X>(again, 2);
  for (const std::string& text :
       {error_of([&] { (void)(x + y); }), error_of([&] { (void)dm::einsum<in>(x, y); })}) {
    CHECK(text.find("two grids") != std::string::npos);
    CHECK(text.find("relayout") != std::string::npos);
  }
  CHECK(error_of([&] { (void)(x + y); }).find("operator+") == 0);
  CHECK(error_of([&] {
          (void)dm::value_and_grad([&](const auto& p) { return dm::sum(p * y); }, x)();
        }) != "");
  // The way from one to the other: blocks that stay share their memory until one is changed.
  auto there = dm::relayout<dense_layout>(y, on.g);
  CHECK(there.data() == y.data());
  const auto z = x + there;
  CHECK(test_support::on_host(z)[0] == 3);
  dm::fill(there, 5);
  CHECK(test_support::on_host(y)[0] == 2);
  const auto whole = dm::relayout<dm::layout<dense>>(y, on.g);
  CHECK((whole.data() == y.data()) == (on.g.size<model>() == 1));
}

TEST_CASE("grids come and go: a tensor of one that is gone says so, the others work on") {
  auto g = std::make_unique<dm::grid<dense>>(data{ranks()}, model{1});
  const dm::grid<experts> h(owner{ranks()}, copy{1});
  using X = dm::tensor<double, dm::layout<dense, dm::partial<data>>, in>;
  using Y = dm::tensor<double, dm::layout<experts, dm::partial<owner>>, in>;
  const auto x = addends<X>(*g);
  const auto y = addends<Y>(h);
  CHECK(test_support::on_host(dm::complete(x))[0] == ranks());
  g.reset();
  CHECK(error_of([&] { (void)dm::complete(x); }).find("grid is gone") != std::string::npos);
  CHECK(error_of([&] { (void)dm::complete(std::tuple(x, y)); }).find("grid is gone") !=
        std::string::npos);
  CHECK(test_support::on_host(dm::complete(y))[0] == ranks());
  for (int i = 0; i < 40; ++i) {  // communicators are given back
    const dm::grid<dense> k(data{1}, model{ranks()});
    using Z = dm::tensor<double, dm::layout<dense, dm::partial<model>>, in>;
    CHECK(test_support::on_host(dm::complete(addends<Z>(k)))[0] == ranks());
  }
}

TEST_CASE("a grid on a part of the ranks: the others skip what is done there") {
  const int members = (ranks() + 1) / 2;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank() < members ? 0 : MPI_UNDEFINED, rank(), &part);
  const dm::grid<dense> all(data{ranks()}, model{1});
  std::unique_ptr<dm::grid<experts>> some;
  if (part != MPI_COMM_NULL) some = std::make_unique<dm::grid<experts>>(part, copy{1});
  CHECK((some != nullptr) == (rank() < members));
  if (part == MPI_COMM_NULL)
    CHECK(error_of([] { dm::grid<experts> g(MPI_COMM_NULL); }).find("grid:") == 0);

  using X = dm::tensor<double, dm::layout<dense, dm::partial<data>>, in>;
  using Y = dm::tensor<double, dm::layout<experts, dm::partial<owner>>, in>;
  const auto x = addends<X>(all);
  Y y;  // on ranks outside: not defined
  if (some) y = addends<Y>(*some);
  const auto [sx, sy] = dm::complete(std::tuple(x, y));
  CHECK(test_support::on_host(sx)[0] == ranks());
  CHECK(sy.defined() == (some != nullptr));
  if (some) CHECK(test_support::on_host(sy)[0] == members);
  const auto copy_of = dm::clone(std::tuple(sx, sy));
  CHECK(std::get<1>(copy_of).defined() == (some != nullptr));
  // A struct with a leaf that is not there on some ranks: read, written and stepped where it is.
  using elsewhere = std::remove_cvref_t<decltype(sy)>;
  std::tuple both(dm::clone(sx), some ? dm::clone(sy) : elsewhere());
  dm::rescale(both, 2);
  CHECK(test_support::on_host(std::get<0>(both))[0] == 2 * ranks());
  if (some) CHECK(test_support::on_host(std::get<1>(both))[0] == 2 * members);
  const dm::sgd step{.rate = 0.5};
  step(both, both);
  CHECK(test_support::on_host(std::get<0>(both))[0] == ranks());
  if (some) CHECK(test_support::on_host(std::get<1>(both))[0] == members);
  const dm::adam rule{.rate = 0.5};
  auto state = rule.start(both);
  rule(both, both, state);
  CHECK(test_support::on_host(std::get<0>(both))[0] < ranks());
  const dm::adafactor factored{.rate = 0.5};
  auto averages = factored.start(both);
  const auto before = test_support::on_host(std::get<0>(both))[0];
  factored(both, both, averages);
  CHECK(test_support::on_host(std::get<0>(both))[0] < before);
  using spread = dm::layout<dense, dm::spread<data>>;
  const auto in_shards = dm::sharded<spread>(rule);
  std::tuple whole = dm::clone(both);
  const std::tuple sums(addends<X>(all), some ? addends<Y>(*some) : Y());
  auto kept = in_shards.start(both);
  in_shards(both, sums, kept);
  auto kept_whole = rule.start(whole);
  rule(whole, dm::complete(sums), kept_whole);
  CHECK(test_support::on_host(std::get<0>(both))[0] ==
        test_support::on_host(std::get<0>(whole))[0]);
  if (some && members < ranks())  // all ranks refuse: those outside find no tensor
    CHECK(error_of([&] { (void)dm::global_norm(both); }).find("grids of different ranks") !=
          std::string::npos);
  if (!some)
    CHECK(error_of([&] { (void)dm::global_norm(both); }) ==
          "global_norm: an operand is not defined: it was moved from, or never made on a grid; "
          "make it first");
  std::size_t leaves = 0;
  dm::for_each_tensor([&leaves](const auto&, const auto& t) { leaves += t.defined(); }, both);
  CHECK(leaves == (some ? 2 : 1));
  if (some) {
    CHECK(dm::global_norm(std::tuple(sy)) == doctest::Approx(2 * members));
    CHECK(error_of([&] { (void)(dm::relayout<dm::layout<dense>>(sy, all)); }).find("relayout: ") ==
          (members == ranks() ? std::string::npos : 0));
  } else {
    CHECK(error_of([&] { (void)dm::sum(sy); }).find("sum: an operand is not defined") == 0);
  }
  some.reset();
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
}

}  // namespace
