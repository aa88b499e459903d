// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The function first.
// expect: accumulate: the arguments are a number of micro-batches, and a function of a batch's number: accumulate(4, [&](index_t i) { ... })
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/accumulate.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
struct part {
  const row& w;
  auto operator()(dm::index_t) const {
    return dm::value_and_grad([](const auto& v) { return dm::mean(v); }, w)();
  }
};
#ifdef COMPILE_FAIL
auto f(const row& w) { return dm::accumulate(part{w}, 4); }
#else
auto f(const row& w) { return dm::accumulate(4, part{w}); }
#endif
