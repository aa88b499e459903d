// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1
// labels: local
// With which numbers does training begin? With those that the types of parameters say: their
// distributions, their sizes, streams of their own; and dropout's streams come from names.
#include "dimesh/nn/initialize.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "dimesh/nn/encoder_decoder.hpp"
#include "dimesh/nn/model.hpp"
#include "dimesh/nn/parameter.hpp"
#include "support/host.hpp"

namespace {
namespace dm = dimesh;
namespace nn = dimesh::nn;

struct pixel : dm::dim<50> {};
struct hidden : dm::dim<200> {};
struct absent : dm::dim<> {};
struct lone : dm::axis<1> {};
struct single : dm::mesh<lone> {};
using L1 = dm::layout<single>;

/// A distribution of one's own.
struct ramp {
  template <dm::Tensor X> void operator()(X& x, dm::random_key) const {
    dm::fill_by(x, [](dm::index_t i) { return static_cast<float>(i); });
  }
};

template <class L> struct linear {
  BOOST_HANA_DEFINE_STRUCT(
      linear, (nn::parameter<nn::normal_by_fan_in<pixel>, float, L, pixel, hidden>, lecun),
      (nn::parameter<nn::he_normal<pixel>, float, L, pixel, hidden>, he),
      (nn::parameter<nn::normal<std::ratio<2, 100>>, float, L, pixel, hidden>, fixed),
      (nn::parameter<nn::normal_in_sum<std::ratio<2, 100>, 4>, float, L, pixel, hidden>, added),
      (nn::parameter<nn::glorot_uniform<dm::shape<pixel>, dm::shape<hidden>>, float, L, pixel,
                     hidden>,
       glorot),
      (nn::parameter<nn::zeros, float, L, hidden>, bias),
      (nn::parameter<nn::ones, float, L, hidden>, gain),
      (nn::parameter<ramp, float, L, hidden>, own), (int, steps));
};
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (std::vector<linear<L>>, layers), (linear<L>, last));
};

using std::is_same_v;
static_assert(is_same_v<decltype(linear<L1>::he), dm::tensor<float, L1, pixel, hidden>>);
static_assert(
    is_same_v<decltype(linear<dm::tracked<L1>>::bias), dm::tensor<float, dm::tracked<L1>, hidden>>);
static_assert(is_same_v<decltype(linear<nn::stating<L1>>::bias), nn::zeros>);
static_assert(is_same_v<dm::rebind_layout<network<L1>, nn::stating>, network<nn::stating<L1>>>);

template <class X> double deviation(const X& x) {
  double square = 0;
  for (dm::index_t i = 0; i < x.local_size(); ++i)
    square += test_support::on_host(x)[i] * test_support::on_host(x)[i];
  return std::sqrt(square / static_cast<double>(x.local_size()));
}

TEST_CASE("initialize: distributions and their sizes") {
  const dm::grid<single> g(MPI_COMM_SELF);
  auto p = dm::make<network<L1>>(g, {{"layers", 2}});
  nn::initialize(p, dm::random_key{7});
  for (const auto* one : {&p.layers[0], &p.layers[1], &p.last}) {
    // 10000 numbers: their deviation is known to 0.7 %.
    CHECK(deviation(one->lecun) == doctest::Approx(std::sqrt(1.0 / 50)).epsilon(0.03));
    CHECK(deviation(one->he) == doctest::Approx(std::sqrt(2.0 / 50)).epsilon(0.03));
    CHECK(deviation(one->fixed) == doctest::Approx(0.02).epsilon(0.03));
    CHECK(deviation(one->added) == doctest::Approx(0.01).epsilon(0.03));
    CHECK(deviation(one->glorot) == doctest::Approx(std::sqrt(2.0 / 250)).epsilon(0.03));
    CHECK(deviation(one->bias) == 0);
    CHECK(test_support::on_host(one->gain)[3] == 1);
    CHECK(test_support::on_host(one->own)[3] == 3);
  }
}

TEST_CASE("initialize: streams by path, of the key") {
  const dm::grid<single> g(MPI_COMM_SELF);
  auto p = dm::make<network<L1>>(g, {{"layers", 2}});
  nn::initialize(p, dm::random_key{7});
  std::set<float> firsts;
  for (const auto* one : {&p.layers[0], &p.layers[1], &p.last})
    for (const auto* x : {&one->lecun, &one->he, &one->fixed, &one->added, &one->glorot})
      firsts.insert(test_support::on_host(*x)[0]);
  CHECK(firsts.size() == 15);
  // The numbers do not depend on what else there is.
  auto q = dm::make<network<L1>>(g, {{"layers", 0}});
  nn::initialize(q, dm::random_key{7});
  CHECK(test_support::on_host(q.last.he)[11] == test_support::on_host(p.last.he)[11]);
  nn::initialize(q, dm::random_key{8});
  CHECK(test_support::on_host(q.last.he)[11] != test_support::on_host(p.last.he)[11]);
  auto again = dm::make<dm::tensor<float, L1, pixel, hidden>>(g);
  dm::fill_normal(again, dm::random_key{7}.fold(dm::path_of(p, 2 * 8 + 2).stream()), 0, 0.02f);
  CHECK(dm::path_of(p, 2 * 8 + 2).text() == "last.fixed");
  CHECK(test_support::on_host(again)[11] == test_support::on_host(p.last.fixed)[11]);
}

TEST_CASE("streams of random numbers: by the names of parts, with dropout or without") {
  const nn::model<L1> m({.dropout = 0.1, .key = dm::random_key{3}});
  CHECK(m.part("attention").run.key == m.part("attention").run.key);
  CHECK_FALSE(m.part("attention").run.key == m.part("feed_forward").run.key);
  CHECK_FALSE(m.part("layers", 0).run.key == m.part("layers", 1).run.key);
  CHECK_FALSE(m.part("layers", 0).run.key == m.part("layers").run.key);
  CHECK_FALSE(m.part("a").part("b").run.key == m.part("b").part("a").run.key);
  CHECK(m.part("attention").run.rate() == 0.1);
  const nn::model<L1> quiet({.dropout = 0.1, .key = dm::random_key{3}, .training = false});
  CHECK(quiet.run.rate() == 0);
  // Routes that are drawn need streams of their own, too (nn/experts.hpp).
  CHECK_FALSE(quiet.part("attention").run.key == quiet.part("feed_forward").run.key);
  CHECK(quiet.part("attention").run.key == m.part("attention").run.key);
}

TEST_CASE("weights without elements are filled with nothing") {
  const dm::grid<single> g(MPI_COMM_SELF);
  dm::tensor<float, L1, absent, hidden> x(g, absent{0});
  const dm::random_key key{1};
  nn::normal_by_fan_in<absent>{}(x, key);
  nn::he_normal<absent>{}(x, key);
  dm::tensor<float, L1, absent> none(g, absent{0});
  nn::glorot_uniform<dm::shape<absent>, dm::shape<absent>>{}(none, key);
  CHECK(x.local_size() + none.local_size() == 0);
}

// ---- a Transformer's parameters -----------------------------------------------------------------

struct batch : dm::dim<2> {};
struct source : dm::dim<6> {};
struct length : dm::dim<8> {};
struct width : dm::dim<16> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<4> {};
struct wide : dm::dim<32> {};
struct vocab : dm::dim<40> {};
struct form : nn::transformer {
  using batch = ::batch;
  using source = ::source;
  using length = ::length;
  using model = ::width;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::wide;
  using vocab = ::vocab;
  static constexpr int layers = 2, encoder_layers = 3;
};

TEST_CASE("an encoder and a decoder: each stack's sums, streams of their own") {
  using S = nn::stating<L1>;
  using parameters = nn::encoder_decoder_parameters<S, form>;
  using deviation = form::deviation;
  using encoder_layer = decltype(parameters::encoder_type::layers)::value_type;
  using decoder_layer = decltype(parameters::decoder_type::layers)::value_type;
  static_assert(is_same_v<decltype(encoder_layer::attention_type::output),
                          nn::normal_in_sum<deviation, 2 * 3>>);
  static_assert(is_same_v<decltype(decoder_layer::feed_forward_type::down),
                          nn::normal_in_sum<deviation, 3 * 2>>);
  static_assert(is_same_v<decltype(decoder_layer::attention_type::query), nn::normal<deviation>>);
  static_assert(is_same_v<decltype(decoder_layer::norm_type::gain), nn::ones>);
  static_assert(is_same_v<decltype(encoder_layer::cross), nn::absent>);
  const dm::grid<single> g(MPI_COMM_SELF);
  auto p = dm::make<nn::encoder_decoder_parameters<L1, form>>(g);
  nn::initialize(p, dm::random_key{1});
  std::set<std::uint64_t> streams;
  int tensors = 0;
  std::set<float> firsts;
  int random = 0;
  dm::for_each_tensor(
      [&](const dm::member_path& path, const auto& x) {
        ++tensors;
        streams.insert(path.stream());
        if (std::string(path.name()).ends_with("bias") || x.rank < 2) return;
        ++random;
        firsts.insert(test_support::on_host(x).data()[0]);
      },
      p);
  CHECK(streams.size() == static_cast<std::size_t>(tensors));
  CHECK(firsts.size() == static_cast<std::size_t>(random));
}

}  // namespace
