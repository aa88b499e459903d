// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients that have been summed, scattered as if each rank had an addend.
// expect: reduce_scatter_together: the gradients are complete, and would be summed once more; pass them as value_and_grad returns them
// expect: gradient_is_complete<rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/shards.hpp>

#include "names.hpp"

template <class L> struct net {
  using weight_type = dm::tensor<float, L, batch, hidden>;
  BOOST_HANA_DEFINE_STRUCT(net, (weight_type, weight));
};
using zero = dm::layout<pod, dm::spread<rows>>;
#ifdef COMPILE_FAIL
auto f(const net<dm::gradient<whole>>& g) {
  return dm::reduce_scatter_together<zero>(dm::complete(g));
}
#else
auto f(const net<dm::gradient<whole>>& g) { return dm::reduce_scatter_together<zero>(g); }
#endif
