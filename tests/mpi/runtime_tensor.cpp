// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that is compiled once and computes under every layout of a mesh: its losses and
// gradients are those of one rank, and have the bits of the same layout as a type; what types
// refuse, the run refuses.
//
// ranks: 1 2 4
// labels: device
// checks: 255 395 532
#include "dimesh/plan/runtime_tensor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <census.hpp>
#include <cmath>
#include <tuple>
#include <vector>

#include "dimesh/any_tensor.hpp"
#include "dimesh/dimesh.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/interop/scalapack.hpp"
#include "dimesh/io/npy.hpp"
#include "dimesh/op/slice_exchange.hpp"
#include "dimesh/optim/adam.hpp"
#include "dimesh/optim/clip.hpp"
#include "dimesh/optim/sgd.hpp"
#include "dimesh/random/fill.hpp"
#include "dimesh/train/histogram.hpp"
#include "support/checkpoints.hpp"
#include "support/host.hpp"

namespace dm = dimesh;
namespace {

struct batch : dm::dim<8> {};
struct pixel : dm::dim<12> {};
struct hidden : dm::dim<16> {};
struct label : dm::dim<4> {};
struct token : dm::dim<> {};
struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};
using any = dm::layout<pod, dm::held_at_run_time>;
using layout_value = dm::layout_value<pod>;
template <class... Rule> using L = dm::layout<pod, Rule...>;

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<double, L, pixel, hidden>, w1),
                           (dm::tensor<double, L, hidden>, b1),
                           (dm::tensor<double, L, hidden, label>, w2),
                           (dm::tensor<double, L, label>, b2));
};
struct loss {
  template <class P, class X, class T>
  constexpr auto operator()(const P& p, const X& x, const T& target) const {
    auto h = dm::relu(dm::complete(dm::einsum<batch, hidden>(x, p.w1)) + p.b1);
    auto y = dm::complete(dm::einsum<batch, label>(h, p.w2)) + p.b2;
    return dm::mean<batch>(dm::log_sum_exp<label>(y) - dm::complete(dm::einsum<batch>(y, target)));
  }
};
struct step {
  template <class P, class X, class T>
  constexpr auto operator()(const P& p, const X& x, const T& target) const {
    return dm::complete(dm::value_and_grad(loss{}, p)(x, target));
  }
};

/// What two steps of Adam leave: the losses, and all of the weights on the first rank.
struct outcome {
  std::vector<double> losses, weights;
  bool operator==(const outcome&) const = default;
};
template <class Layout> outcome train(const dm::grid<pod>& g) {
  using P = network<Layout>;
  auto p = dm::make<P>(g);
  std::uint64_t seed = 1;
  dm::for_each_tensor(
      [&](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -0.5, 0.5); }, p);
  const dm::adam optimizer{.rate = 0.05};
  auto state = optimizer.start(p);
  const auto x = dm::normal<dm::tensor<double, Layout, batch, pixel>>(g, dm::random_key{11}, 0, 1);
  const auto t = dm::uniform<dm::tensor<double, Layout, batch, label>>(g, dm::random_key{12}, 0, 1);
  outcome out;
  for (int i = 0; i < 2; ++i) {
    census::reset();
    const auto [loss, gradient] = step{}(p, x, t);
    const auto seen = census::snapshot();
    const auto ahead = dm::count(step{}, p, x, t);
    if (g.rank() == 0) CHECK(seen.bytes() == ahead.template bytes<>());
    out.losses.push_back(dm::value(loss));
    optimizer(p, gradient, state);
  }
  for (const auto& w : {dm::to_rank(p.w1), dm::to_rank(p.w2)})
    out.weights.insert(out.weights.end(), w.begin(), w.end());
  return out;
}
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double far = a.size() == b.size() ? 0 : HUGE_VAL;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    far = std::max(far, std::abs(a[i] - b[i]));
  return far;
}
outcome train_under(const layout_value& l, const dm::grid<pod>& g) {
  const dm::under_layout here(l);
  return train<any>(g);
}

/// Calls f(grid) for each plane of all ranks.
template <class F> void on_planes(const F& f) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int n = 1; n <= ranks; ++n)
    if (ranks % n == 0) {
      const dm::grid<pod> g(rows{n});
      f(g);
    }
}

TEST_CASE("training under every layout of a plane, compiled once") {
  on_planes([](const dm::grid<pod>& g) {
    const outcome whole = train_under(layout_value(), g);
    int tried = 0;
    for (const layout_value& l : dm::all_layouts<pod, batch, pixel, hidden, label>()) {
      const std::string text = l.text();
      CAPTURE(text);
      const outcome o = train_under(l, g);
      CHECK(distance(o.losses, whole.losses) < 1e-12);
      CHECK(distance(o.weights, whole.weights) < 1e-9);
      ++tried;
    }
    CHECK(tried == 29);
  });
}

TEST_CASE("the bits are those of the same layout as a type") {
  using by_rows = L<dm::split<batch, rows>>;
  using hybrid = L<dm::split<batch, rows>, dm::split<hidden, cols>>;
  using io = L<dm::split<pixel, cols>, dm::split<label, rows>>;
  on_planes([](const dm::grid<pod>& g) {
    CHECK(train_under(layout_value(by_rows{}), g) == train<by_rows>(g));
    CHECK(train_under(layout_value(hybrid{}), g) == train<hybrid>(g));
    CHECK(train_under(layout_value(io{}), g) == train<io>(g));
  });
}

TEST_CASE("from type to value and back, by a handle; from layout to layout") {
  using M = dm::tensor<double, L<dm::split<hidden, cols>>, pixel, hidden>;
  using R = dm::runtime_tensor<double, pod, pixel, hidden>;
  const dm::grid<pod> g(rows{1});
  const auto x = dm::normal<M>(g, dm::random_key{3}, 0, 1);
  const dm::any_tensor held = x;
  CHECK(held.is<R>());
  const R y = held.as<R>();
  CHECK(y.data() == x.data());
  CHECK(dm::describe(y) == dm::describe(x));
  CHECK(dm::any_tensor(y).as<M>().data() == x.data());
  const dm::under_layout there(layout_value(L<dm::split<pixel, cols>>{}));
  const R z = dm::relayout<any>(y);
  CHECK(dm::describe(z) == "double[pixel=12/cols:" + std::to_string(g.ranks()) + ", hidden=16]");
  CHECK(dm::to_rank(z) == dm::to_rank(x));
}

TEST_CASE("a relayout that begins only goes where relayout goes, and gradients come back") {
  using M = dm::tensor<double, L<dm::split<hidden, cols>>, pixel, hidden>;
  const dm::grid<pod> g(rows{1});
  const M x = dm::normal<M>(g, dm::random_key{3}, 0, 1);
  const auto y = dm::any_tensor(x).as<dm::runtime_tensor<double, pod, pixel, hidden>>();
  const dm::under_layout there(layout_value(L<dm::split<pixel, cols>>{}));
  const auto check = [](const auto& from, auto to) {
    using T = decltype(to);
    const auto went = dm::relayout<T>(from);
    census::reset();
    const auto z = dm::await(dm::start_relayout<T>(from));
    const auto seen = census::snapshot();
    CHECK(dm::describe(z) == dm::describe(went));
    CHECK(distance(dm::to_rank(z), dm::to_rank(went)) < 1e-12);
    const auto cost =
        dm::count([](const auto& v) { return dm::await(dm::start_relayout<T>(v)); }, from);
    CHECK(cost.template calls<>() == seen.calls());
  };
  check(y, any{});
  check(y, L<>{});
  check(y, L<dm::split<pixel, cols>>{});
  check(y, L<dm::split<hidden, cols>>{});
  check(y, L<dm::split<hidden, rows>, dm::split<pixel, cols>>{});
  const auto addends = dm::einsum<pixel>(y, y);  // partial over cols
  check(addends, L<>{});
  check(addends, L<dm::split<pixel, rows, cols>>{});
  const auto by_start = [](const auto& v) {
    return dm::sum(dm::await(dm::start_relayout<L<dm::split<pixel, cols>>>(dm::square(v))));
  };
  const auto [loss, slope] = dm::complete(dm::value_and_grad(by_start, y)());
  CHECK(dm::describe(slope) == dm::describe(y));
  CHECK(distance(dm::to_rank(slope), dm::to_rank(y + y)) < 1e-12);
  using C = L<dm::split<hidden, cols>>;
  const auto halo = dm::halo_exchange<1, pixel>(y);
  CHECK_THROWS_WITH_AS((void)dm::start_relayout<C>(halo),
                       doctest::Contains("relayout: dim_has_halo"), dm::error);
}

TEST_CASE("a complete that begins only sums what is partial, and finds maxima") {
  using M = dm::tensor<double, L<dm::split<hidden, cols>>, pixel, hidden>;
  const dm::grid<pod> g(rows{1});
  const auto y = dm::any_tensor(dm::normal<M>(g, dm::random_key{3}, 0, 1))
                     .as<dm::runtime_tensor<double, pod, pixel, hidden>>();
  const auto started = [](const auto& v) { return dm::await(dm::start_complete(v)); };
  const auto check = [&](const auto& from) {
    const auto went = dm::complete(from);
    census::reset();
    const auto z = started(from);
    const auto seen = census::snapshot();
    CHECK(dm::describe(z) == dm::describe(went));
    CHECK(distance(dm::to_rank(z), dm::to_rank(went)) < 1e-12);
    const auto cost = dm::count(started, from);
    CHECK(cost.template calls<>() == seen.calls());
  };
  check(y);
  check(dm::einsum<pixel>(y, y));
  check(dm::max<hidden>(y));
  check(dm::min<hidden>(y));
  const auto by_start = [&](const auto& v) { return started(dm::sum(v * v)); };
  const auto slope = dm::complete(dm::value_and_grad(by_start, y)()).gradient;
  CHECK(distance(dm::to_rank(slope), dm::to_rank(y + y)) < 1e-12);
}

TEST_CASE("numbers around elements: as under the type, and not around addends") {
  using M = dm::tensor<double, L<dm::split<dm::uneven<token>, cols>>, token, hidden>;
  const dm::grid<pod> g(rows{1});
  M x(g, token{7});
  dm::fill_uniform(x, dm::random_key{3}, -1, 1);
  const auto y = dm::any_tensor(x).as<dm::runtime_tensor<double, pod, token, hidden>>();
  const auto check = [&](const auto& f) {
    const auto here = f(y);
    const auto there = f(x);
    CHECK(dm::describe(here) == dm::describe(there));
    CHECK(dm::to_rank(here) == dm::to_rank(there));
  };
  check([](const auto& v) { return dm::pad_exchange<dm::uneven<token>>(v, 1, 2, 5); });
  check([](const auto& v) { return dm::pad<token>(dm::whole<token>(v), 1, 2, 5); });
  const auto addends = dm::sum<hidden>(dm::relayout<L<dm::split<hidden, cols>>>(y));
  CHECK(dm::pad<token>(addends, 1, 2).extent<token>() == 10);
  CHECK_THROWS_WITH_AS((void)dm::pad<token>(addends, 1, 2, 5),
                       doctest::Contains("pad: partial_meets_scalar"), dm::error);
  CHECK_THROWS_WITH_AS((void)dm::pad_exchange<dm::uneven<token>>(addends, 1, 2, 5),
                       doctest::Contains("pad_exchange: partial_meets_scalar"), dm::error);
}

TEST_CASE("tensors like another have its layout, whatever the rules of the moment are") {
  const dm::grid<pod> g(rows{1});
  using R = dm::runtime_tensor<double, pod, batch, hidden>;
  auto [x, s] = [&] {
    const dm::under_layout here(layout_value(L<dm::split<batch, cols>>{}));
    const auto made = dm::normal<R>(g, dm::random_key{3}, 0, 1);
    return std::pair(made, dm::sum<batch>(made));
  }();
  const auto same = [](const auto& y) {
    const auto zeros = dm::zeros_like(y);
    CHECK(dm::describe(zeros) == dm::describe(y));
    CHECK(dm::describe(dm::shapes_of(y)) == dm::describe(y));
    CHECK(dm::to_rank(zeros + y) == dm::to_rank(y));
    const auto twice = [](const auto& v) { return dm::complete(v + dm::zeros_like(v)); };
    const auto one = dm::count(twice, y), other = dm::count(twice, dm::shapes_of(y));
    CHECK(one.template bytes<>() == other.template bytes<>());
    CHECK(one.peak() == other.peak());
  };
  same(x);
  same(s);
  const dm::under_layout elsewhere(layout_value(L<dm::split<hidden, rows>>{}));
  same(x);
  same(s);
}

TEST_CASE("elements are asked for and set by their places, under any rules") {
  const dm::grid<pod> g(rows{1});
  using R = dm::runtime_tensor<double, pod, batch, hidden>;
  const auto check = [&](const auto& rules) {
    const dm::under_layout here{layout_value(rules)};
    auto x = dm::generate<R>(g, [](dm::index_t i, dm::index_t j) { return 100. * i + j; });
    for (const dm::index_t i : {0, 3, 7}) {
      if (x.holds(hidden{4}, batch{i})) CHECK(x.at(hidden{4}, batch{i}) == 100 * i + 4);
      x.set(-1, batch{i}, hidden{4});
      CHECK(dm::broadcast_element(x, {i, 4}) == -1);
    }
    const auto s = dm::sum<batch>(x);
    CHECK(s.holds(hidden{0}) == x.holds(batch{x.block(0).offset}, hidden{0}));
    auto h = dm::halo_exchange<1, batch>(x);
    CHECK(h.at(batch{h.block(0).offset}, hidden{h.block(1).offset}) ==
          x.at(batch{h.block(0).offset}, hidden{h.block(1).offset}));
    CHECK_THROWS_WITH_AS(h.set(1, batch{3}, hidden{4}),
                         doctest::Contains("tensor::set: dim_has_halo: blocks of dim 'batch'"),
                         dm::error);
  };
  check(L<dm::split<batch, cols>>{});
  check(L<dm::split<hidden, cols>>{});
  const dm::under_layout here(layout_value(L<dm::split<batch, cols>>{}));
  auto s = dm::sum<batch>(dm::zeros<R>(g));
  CHECK_THROWS_WITH_AS((void)s.at(hidden{0}), doctest::Contains("tensor::at: partial_operand"),
                       dm::error);
  CHECK_THROWS_WITH_AS(s.set(1, hidden{0}), doctest::Contains("tensor::set: partial_operand"),
                       dm::error);
}

TEST_CASE("the length of gradients, and what is cut to it: as under the types") {
  using rules = L<dm::split<batch, rows>, dm::split<hidden, cols>>;
  on_planes([](const dm::grid<pod>& g) {
    const auto made = [&g]<class Layout>(dm::detail::tag<Layout>) {
      auto p = dm::make<network<Layout>>(g);
      std::uint64_t seed = 1;
      dm::for_each_tensor(
          [&](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -1, 1); }, p);
      return p;
    };
    const dm::under_layout here(layout_value(rules{}));
    auto typed = made(dm::detail::tag<rules>{});
    auto p = made(dm::detail::tag<any>{});
    census::reset();
    const double length = dm::global_norm(p);
    const auto seen = census::snapshot();
    CHECK(length == dm::global_norm(typed));
    const auto norm_of = [](const auto& q) {
      (void)dm::global_norm(q);
      return q;
    };
    const auto ahead = dm::count(norm_of, p);
    if (g.rank() == 0) CHECK(seen.bytes() == ahead.template bytes<>());
    CHECK(dm::clip_by_global_norm(p, 1) == dm::clip_by_global_norm(typed, 1));
    CHECK(dm::to_rank(p.w1) == dm::to_rank(typed.w1));
    CHECK(dm::to_rank(p.b2) == dm::to_rank(typed.b2));
    const auto refused = [](const auto& x, const char* why) {
      CHECK_THROWS_WITH_AS((void)dm::global_norm(x), doctest::Contains(why), dm::error);
    };
    refused(dm::sum<hidden>(p.w1), "global_norm: gradient_not_complete");
    refused(dm::halo_exchange<1, hidden>(p.w1),
            "global_norm: dim_has_halo: blocks of dim 'hidden' carry a halo");
  });
}

TEST_CASE("checkpoints, arrays and histograms, from layout to layout") {
  const dm::grid<pod> g(rows{1});
  const test_support::scratch folder("held_at_run_time"), file("held_at_run_time.npy");
  using R = dm::runtime_tensor<double, pod, batch, hidden>;
  static_assert(!dm::is_scalapack_matrix<R>);
  const layout_value hybrid(L<dm::split<pixel, rows>, dm::split<hidden, cols>>{});
  const layout_value by_batch(L<dm::split<batch, cols>>{}), sums(L<dm::partial<cols>>{});
  const auto weights = [](const network<any>& p) {
    return std::array{dm::to_rank(p.w1), dm::to_rank(p.b1), dm::to_rank(p.w2), dm::to_rank(p.b2)};
  };
  const auto [p, x, total] = [&] {
    const dm::under_layout here(hybrid);
    auto made = dm::make<network<any>>(g);
    std::uint64_t seed = 1;
    dm::for_each_tensor(
        [&](const auto&, auto& w) { dm::fill_uniform(w, dm::random_key{seed++}, -0.5, 0.5); },
        made);
    const dm::under_layout there(by_batch);
    const auto y = dm::normal<R>(g, dm::random_key{3}, 0, 1);
    return std::tuple(made, y, dm::sum<batch>(y));
  }();
  dm::save_checkpoint(folder.path, {.step = 1}, dm::part("model", p));
  dm::save_npy(x, file.path);
  const auto refused = [](const auto& f, const char* why) {
    CHECK_THROWS_WITH_AS(f(), doctest::Contains(why), dm::error);
  };
  const char* const no_elements = "partial_operand: ranks hold addends, and no elements";
  refused([&, &t = total] { dm::save_npy(t, file.path); }, no_elements);
  refused([&, &t = total] { dm::save_checkpoint(folder.path, {.step = 2}, dm::part("total", t)); },
          "save_checkpoint: partial_operand: tensor 'total' is a sum yet to be made");
  for (const layout_value& l : {by_batch, hybrid, layout_value()}) {
    const dm::under_layout here(l);
    auto q = dm::make<network<any>>(g);
    CHECK(dm::load_checkpoint(folder.path, dm::part("model", q)).step == 1);
    CHECK(weights(q) == weights(p));
    CHECK(dm::to_rank(dm::load_npy<R>(g, file.path)) == dm::to_rank(x));
    const auto h = dm::histogram_of(q.w1);
    CHECK(h.count == 12 * 16);
    CHECK(h.max == dm::histogram_of(p.w1).max);
  }
  CHECK(dm::histogram_of(total).count == 16);
  const dm::under_layout here(sums);
  refused([&] { (void)dm::load_npy<R>(g, file.path); }, no_elements);
  auto q = dm::make<network<any>>(g);
  refused([&] { dm::load_checkpoint(folder.path, dm::part("model", q)); },
          "load_checkpoint: partial_operand: tensor 'model.w1' is a sum yet to be made");
}

TEST_CASE("what types refuse, the run refuses") {
  const dm::grid<pod> g(rows{1});
  using R = dm::runtime_tensor<double, pod, batch, hidden>;
  CHECK_THROWS_WITH_AS((void)R{g}, doctest::Contains("keep an under_layout alive"), dm::error);
  layout_value twice(L<dm::split<batch, cols>>{});
  twice.add(L<dm::split<hidden, cols>>{});
  {
    const dm::under_layout here(twice);
    CHECK_THROWS_WITH_AS((void)R{g}, doctest::Contains("dims_share_mesh_axis"), dm::error);
  }
  {
    const dm::under_layout here(layout_value(L<dm::split<dm::halo<batch, 1>, cols>>{}));
    CHECK_THROWS_WITH_AS((void)R{g}, doctest::Contains("no tensor begins so"), dm::error);
  }
  const dm::under_layout here(layout_value(L<dm::split<batch, cols>>{}));
  const auto x = dm::constant<R>(g, 1.0);
  const auto total = dm::sum(x);
  CHECK_THROWS_WITH_AS((void)dm::value(total), doctest::Contains("value: partial_operand"),
                       dm::error);
  CHECK(dm::value(dm::complete(total)) == 128);
  CHECK_THROWS_WITH_AS((void)dm::exp(dm::sum<batch>(x)), doctest::Contains("partial_operand"),
                       dm::error);
  const auto refuses = [](const auto& given, const char* why) {
    using T = dm::value_of<std::remove_cvref_t<decltype(given)>>;
    auto y = given;
    const std::vector<T> whole(static_cast<std::size_t>(y.shape().size()));
    const auto place = [](auto... i) { return static_cast<double>((i + ...)); };
    CHECK_THROWS_WITH_AS(dm::fill(y, 1), doctest::Contains(why), dm::error);
    CHECK_THROWS_WITH_AS(dm::fill_by(y, place), doctest::Contains(why), dm::error);
    CHECK_THROWS_WITH_AS(dm::fill_from(y, whole), doctest::Contains(why), dm::error);
    CHECK_THROWS_WITH_AS(dm::fill_bernoulli(y, dm::random_key{1}, 0.5), doctest::Contains(why),
                         dm::error);
    dm::clear(y);
    const auto elements = test_support::on_host(y);
    CHECK(
        std::all_of(elements.data(), elements.data() + y.local_size(), [](T v) { return v == 0; }));
  };
  refuses(dm::halo_exchange<1, batch>(x), "fill: dim_has_halo: blocks of dim 'batch'");
  refuses(dm::max<batch>(x), "fill: partial_operand: the layout is that of a maximum");
  auto p = dm::make<network<any>>(g);
  dm::for_each_tensor([](const auto&, auto& w) { dm::fill(w, 0.1); }, p);
  const auto in = dm::constant<dm::runtime_tensor<double, pod, batch, pixel>>(g, 1.0);
  const auto out = dm::constant<dm::runtime_tensor<double, pod, batch, label>>(g, 1.0);
  const auto unsummed = dm::value_and_grad(loss{}, p)(in, out);
  CHECK_THROWS_WITH_AS(dm::sgd{.rate = 0.1}(p, unsummed.gradient),
                       doctest::Contains("another layout than its parameter"), dm::error);
}

}  // namespace
