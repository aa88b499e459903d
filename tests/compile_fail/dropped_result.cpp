// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A result that is dropped; tensors are values, nothing happens in place. (COMPLETED: a struct.)
// expect: ignoring return
// lines: 14
// also: COMPLETED
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
template <class L> struct pair_of {
  BOOST_HANA_DEFINE_STRUCT(pair_of, (dm::tensor<float, L, hidden>, a),
                           (dm::tensor<float, L, hidden>, b));
};
using gradients = pair_of<dm::gradient<by_batch>>;
#ifdef COMPLETED
#define RESULT(x, g) dm::complete(g)
#else
#define RESULT(x, g) dm::sum<batch>(x)
#endif
#ifdef COMPILE_FAIL
#pragma GCC diagnostic error "-Wunused-result"
void f([[maybe_unused]] const matrix& x, [[maybe_unused]] const gradients& g) { RESULT(x, g); }
#else
auto f([[maybe_unused]] const matrix& x, [[maybe_unused]] const gradients& g) {
  return RESULT(x, g);
}
#endif
