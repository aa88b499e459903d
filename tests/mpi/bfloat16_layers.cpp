// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 10 10 10
// labels: local
// Normalisation, dropout, embeddings and the loss on bfloat16: near those of the same numbers in
// float, and so are their gradients.
#include "dimesh/element/bfloat16.hpp"

#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "dimesh/grad/complete.hpp"
#include "dimesh/op/cross_entropy.hpp"
#include "dimesh/op/dropout.hpp"
#include "dimesh/op/norm.hpp"
#include "dimesh/op/take.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/op/value.hpp"
#include "support/laws.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using bf = dm::bfloat16;

/// The table in the type T from here on; float masters stay what they are.
template <class T> struct model {
  template <class W, class I> auto operator()(const W& w, const I& ids, const I& target) const {
    const auto table = dm::cast<T>(w);
    const auto h = dm::dropout(0.25, dm::random_key{5}, dm::take<p>(table, ids));
    const auto u = dm::layer_norm<q>(dm::complete(h));
    static_assert(std::is_same_v<dm::value_of<decltype(u)>, T>);
    const auto loss = dm::softmax_cross_entropy<q>(u, target);
    static_assert(std::is_same_v<dm::value_of<decltype(loss)>, float>);
    return dm::mean(dm::complete(loss));
  }
};

TEST_CASE("bfloat16 layers: values and gradients near those in float, on layouts of a line") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    for_all_layouts<line, dm::detail::list<p, q, r>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      const auto w =
          dm::uniform<dm::tensor<float, L, p, q>>(g, dm::random_key{1}, -1, 1, p{9}, q{16});
      const auto ids = dm::generate<dm::tensor<int, L, r>>(
          g, [](index_t i) { return static_cast<int>(i * 5 % 9); }, r{40});
      const auto target = dm::generate<dm::tensor<int, L, r>>(
          g, [](index_t i) { return static_cast<int>(i * 7 % 16); }, r{40});
      const auto exact = dm::complete(dm::value_and_grad(model<float>{}, w)(ids, target));
      const auto near = dm::complete(dm::value_and_grad(model<bf>{}, w)(ids, target));
      CHECK(dm::value(near.value) == doctest::Approx(dm::value(exact.value)).epsilon(0.01));
      const auto a = dm::to_rank(exact.gradient), b = dm::to_rank(near.gradient);
      double off = 0, all = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        off += (b[i] - a[i]) * (b[i] - a[i]);
        all += a[i] * a[i];
      }
      CHECK(std::sqrt(off) <= 0.02 * std::sqrt(all));
    });
  });
}

}  // namespace
