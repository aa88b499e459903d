// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The U-Net of examples/unet on images that are cut in height and width: strided, dilated and
// transposed convolutions, pooling, skips; loss and gradients are, to the bit (whole numbers),
// those of a rank that has all of the images, and its messages are foreseen.
// ranks: 1 2 3 4 5 6 7 8
#include <doctest/doctest.h>

#include <census.hpp>

#include "../../examples/unet/net.hpp"
#include "dimesh/grad/cost.hpp"
#include "support/host.hpp"
#include "support/laws.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

using unet::high, unet::across;
using cut = unet::cut<plane, x, y>;
using images = unet::images<double, cut>;
using weights = unet::weights<cut, double>;

/// The sum of what the net makes of v, each number times that of the image itself.
struct loss {
  template <class P, class X> constexpr auto operator()(const P& p, const X& v) const {
    return dm::einsum<>(unet::forward{}(p, v), v);
  }
};
struct training_step {
  template <class P, class X> constexpr auto operator()(const P& p, const X& v) const {
    return dm::complete(dm::value_and_grad(loss{}, p)(v));
  }
};

/// Whole numbers, the same on every grid.
weights parameters(const dm::grid<plane>& g) {
  auto p = dm::make<weights>(g, unet::bright{2}, unet::fine{3}, unet::coarse{4});
  index_t seed = 3;
  dm::for_each_tensor(
      [&](const auto&, auto& t) {
        scatter(numbers_like(t, static_cast<std::uint64_t>(seed++)), t);
      },
      p);
  return p;
}
std::vector<double> numbers_of(double value, const weights& gradient) {
  std::vector<double> all{value};
  dm::for_each_tensor(
      [&](const auto&, const auto& t) {
        all.insert(all.end(), test_support::on_host(t).data(),
                   test_support::on_host(t).data() + t.local_size());
      },
      gradient);
  return all;
}

TEST_CASE("a U-Net on images in tiles is that of one rank") {
  for (const extents& size : {extents{2, 11, 9, 2}, extents{2, 16, 8, 2}, extents{2, 5, 4, 2}}) {
    const array a = numbers({"image", "high", "across", "bright"}, size, 1);
    const dm::grid<plane> alone(MPI_COMM_SELF, x{1}, y{1});
    const auto [want, slope] = training_step{}(parameters(alone), scattered<images>(alone, a));
    const std::vector<double> expected = numbers_of(dm::value(want), slope);
    CHECK(4 * std::count(expected.begin(), expected.end(), 0.0) < std::ssize(expected));
    for_each_grid<plane>([&](const dm::grid<plane>& g) {
      const auto p = parameters(g);
      const auto v = scattered<images>(g, a);
      const auto foreseen = dm::count(training_step{}, p, v);
      census::reset();
      const auto [value, gradient] = training_step{}(p, v);
      const auto sent = census::snapshot();
      CHECK(numbers_of(dm::value(value), gradient) == expected);
      if (g.rank() != 0) return;
      CHECK(sent.bytes() == foreseen.bytes());
      CHECK(sent.calls() == foreseen.calls());
    });
  }
}

}  // namespace
