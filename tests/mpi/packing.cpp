// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// labels: heavy
// Sequences of several lengths, packed by the input pipeline into rows: losses and gradients of a
// language model are those of the same sequences in a row each, under every layout; with learned
// positions, rotations and waves.
#include "dimesh/nn/packing.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "dimesh/grad/complete.hpp"
#include "dimesh/io/data/order.hpp"
#include "dimesh/io/data/pack.hpp"
#include "dimesh/io/data/prefetch.hpp"
#include "dimesh/io/data/transform.hpp"
#include "dimesh/nn/initialize.hpp"
#include "dimesh/op/value.hpp"
#include "support/host.hpp"
#include "support/worst.hpp"

namespace {
namespace dm = dimesh;
namespace in = dimesh::input;
namespace nn = dimesh::nn;
using dm::index_t;

struct batch : dm::dim<4> {};
struct sentences : dm::dim<9> {};
struct length : dm::dim<8> {};
struct model : dm::dim<8> {};
struct heads : dm::dim<4> {};
struct group : dm::dim<1> {};
struct head : dm::dim<2> {};
struct hidden : dm::dim<16> {};
struct vocab : dm::dim<12> {};

struct learned : nn::transformer {
  using element = double;
  using batch = ::batch;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 2;
  using deviation = std::ratio<3, 10>;
};
struct turned : learned {
  using heads = dm::shape<::heads, group>;
  using key_heads = dm::shape<::heads>;
  static constexpr auto norm = nn::norm_kind::rms;
  static constexpr auto positions = nn::position_kind::rotary;
  static constexpr bool biases = false, tied = false, recompute = true;
};
struct waves : learned {
  static constexpr auto positions = nn::position_kind::sinusoidal;
  static constexpr index_t window = 3;
  static constexpr auto recompute = nn::recomputing::attention;
};
/// The same for a sequence in each row.
template <class M> struct apart : M {
  using batch = sentences;
};

struct x : dm::axis<> {};
struct line : dm::mesh<x> {};
using none = dm::layout<line>;
using data = dm::layout<line, dm::split<batch, x>>;
using parts = dm::layout<line, dm::split<heads, x>, dm::split<hidden, x>, dm::split<vocab, x>,
                         dm::split_if_free<length, x>>;
using lengths = dm::layout<line, dm::split<length, x>>;

std::vector<std::vector<int>> sequences() {
  std::vector<std::vector<int>> all;
  for (const int n : {5, 3, 8, 4, 2, 1, 6, 0, 2}) {
    const int s = static_cast<int>(all.size());
    all.emplace_back();
    for (int i = 0; i < n; ++i) all.back().push_back((s * 5 + i * 7 + i * i) % 12);
  }
  return all;
}

template <class C, class M> struct rows {
  using ids_type = nn::tokens<C, M>;
  BOOST_HANA_DEFINE_STRUCT(rows, (ids_type, ids), (ids_type, segments), (ids_type, positions),
                           (ids_type, next));
};

struct outcome {
  double loss = 0;
  std::map<std::string, std::vector<double>> gradient{};
};
template <class Net, class F, class... I>
outcome measured(const dm::grid<line>& g, const Net&, const F& loss, const I&... inputs) {
  auto p = dm::make<typename Net::parameters>(g);
  nn::initialize(p, dm::random_key{3});
  const auto step = dm::complete(dm::value_and_grad(loss, p)(inputs...));
  outcome out{.loss = dm::value(step.value)};
  dm::for_each_tensor(
      [&](const dm::member_path& path, const auto& v) {
        const auto whole = dm::relayout<none>(v);
        const auto on = test_support::on_host(whole);
        out.gradient[path.text()].assign(on.data(), on.data() + whole.local_size());
      },
      step.gradient);
  return out;
}
template <class C, class M> auto packed_rows(const dm::grid<line>& g) {
  auto load = in::records<std::vector<int>>(sequences()) | in::pack(8, 0) |
              in::map(in::followed{}) | in::batch<rows<C, M>>(g, batch{}) | in::prefetch(1);
  CHECK(load.batches_per_epoch() == 1);
  return load.next();
}
template <class C, class M> outcome packed(const dm::grid<line>& g, double dropout = 0) {
  const auto b = packed_rows<C, M>(g);
  const nn::language_model<C, M> m({.dropout = dropout, .key = dm::random_key{9}});
  return measured(
      g, m,
      [&m](const auto& p, const auto& i, const auto& s, const auto& at, const auto& n) {
        return nn::loss(m, p, i, s, at, n);
      },
      b.ids, b.segments, b.positions, b.next);
}
template <class M> outcome one_by_one(const dm::grid<line>& g) {
  const nn::language_model<none, apart<M>> m;
  const auto all = sequences();
  const auto at = [&](index_t s, index_t i, int beyond) {
    const auto& v = all[static_cast<std::size_t>(s)];
    return i < static_cast<index_t>(v.size()) ? v[static_cast<std::size_t>(i)] : beyond;
  };
  using ids = nn::tokens<none, apart<M>>;
  return measured(
      g, m, [&m](const auto& p, const auto& i, const auto& n) { return m.loss(p, i, n); },
      dm::generate<ids>(g, [&](index_t s, index_t i) { return at(s, i, 0); }),
      dm::generate<ids>(g, [&](index_t s, index_t i) { return at(s, i + 1, -1); }));
}

void check_same(const outcome& a, const outcome& b) {
  CHECK(a.loss == doctest::Approx(b.loss).scale(0).epsilon(1e-12));
  for (const auto& [name, values] : b.gradient) {
    INFO("gradient of ", name);
    const auto& mine = a.gradient.at(name);
    REQUIRE(mine.size() == values.size());
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      worst = test_support::worst(worst, std::abs(mine[i] - values[i]));
    CHECK(worst < 1e-12);
  }
}

TEST_CASE("packed rows give the losses and gradients of their sequences apart") {
  const dm::grid<line> g;
  SUBCASE("learned positions") {
    const outcome want = one_by_one<learned>(g);
    check_same(packed<none, learned>(g), want);
    check_same(packed<data, learned>(g), want);
    check_same(packed<parts, learned>(g), want);
  }
  SUBCASE("with dropout, alike under all layouts") {
    const outcome want = packed<none, learned>(g, 0.1);
    check_same(packed<data, learned>(g, 0.1), want);
    check_same(packed<parts, learned>(g, 0.1), want);
    CHECK(std::abs(want.loss - packed<none, learned>(g).loss) > 1e-4);
  }
  SUBCASE("rotations, keys shared by groups, layers computed anew") {
    check_same(packed<parts, turned>(g), one_by_one<turned>(g));
  }
  SUBCASE("waves, a window, attention computed anew, the length split") {
    check_same(packed<lengths, waves>(g), one_by_one<waves>(g));
  }
}

TEST_CASE("without segments a sequence sees those before it in its row") {
  const dm::grid<line> g;
  const auto b = packed_rows<data, learned>(g);
  const nn::language_model<data, learned> m;
  auto p = dm::make<nn::language_model_parameters<data, learned>>(g);
  nn::initialize(p, dm::random_key{3});
  const double alone =
      dm::value(dm::complete(nn::loss(m, p, b.ids, b.segments, b.positions, b.next)));
  CHECK(std::abs(dm::value(dm::complete(m.loss(p, b.ids, b.next))) - alone) > 1e-4);
  // The loss is the mean over the 23 tokens that follow another one, not over the 32 places.
  const auto scores = nn::logits(m, p, b.ids, b.segments, b.positions);
  const auto losses = dm::softmax_cross_entropy<vocab>(scores, b.next);
  CHECK(dm::value(dm::complete(dm::sum(losses))) / 23 ==
        doctest::Approx(alone).scale(0).epsilon(1e-12));
}

}  // namespace
