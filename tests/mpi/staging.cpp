// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// alone: it sets what the whole program reads from its environment
// Where MPI is to have the memory of tensors that no host reaches, reductions by functions of the
// library's own go by way of the host all the same: they follow pointers there.
#include "dimesh/collective/staging.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "dimesh/dimesh.hpp"
#include "dimesh/op/scan.hpp"
#include "dimesh/op/start.hpp"
#include "support/far_memory.hpp"

namespace {
namespace dm = dimesh;

struct x : dm::axis<> {};
struct far : dm::mesh<x> {
  using space = test_support::far_memory;
};
struct p : dm::dim<> {
  using dim<>::dim;
};

/// The library asks once, after main has begun.
[[maybe_unused]] const int said = setenv("DIMESH_STAGING", "never", 1);

TEST_CASE("reductions by functions of our own go by way of the host, others do not") {
  const dm::grid<far> g;
  const auto goes_by_host = [](const auto& f) {
    auto& buffers = dm::detail::pool::of(&dm::detail::facts_of_memory<dm::detail::pinned_space>);
    buffers.restart_peak();
    const auto before = buffers.figures().peak;
    f();
    CHECK(buffers.figures().live == before);
    return buffers.figures().peak > before;
  };
  const bool several = g.ranks() > 1;
  using L = dm::layout<far, dm::split<p, x>>;
  const auto v = dm::generate<dm::tensor<double, L, p>>(
      g, [](dm::index_t i) { return double(i); }, p{2 * g.ranks()});
  const double n = 2 * g.ranks();
  const auto short_v = dm::cast<dm::bfloat16>(v);
  CHECK_FALSE(goes_by_host([&] { CHECK(dm::value(dm::complete(dm::sum(v))) == n * (n - 1) / 2); }));
  CHECK_FALSE(goes_by_host([&] {
    CHECK(dm::value(dm::await(dm::start_all_reduce<x>(dm::sum(v)))) == n * (n - 1) / 2);
  }));
  CHECK(goes_by_host([&] { CHECK(dm::value(dm::complete(dm::max<p>(v))) == n - 1); }) == several);
  CHECK(goes_by_host([&] {
          CHECK(float(dm::value(dm::complete(dm::sum(short_v)))) == float(n * (n - 1) / 2));
        }) == several);
  CHECK(goes_by_host([&] {
          const auto w = dm::cumsum_exscan<p>(v);
          CHECK(dm::broadcast_element(w, {w.shape().size() - 1}) == n * (n - 1) / 2);
        }) == several);
}

}  // namespace
