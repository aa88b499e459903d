// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each chunk is a move that is under way, and so many operands of the operation that joins them.
// expect: mixture: the form asks for more expert_chunks than can be under way at a time; 16 is the most
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/moe/experts.hpp>

#include "names.hpp"

struct expert : dm::dim<64> {};
struct choice : dm::dim<2> {};
struct slot : dm::dim<> {
  using dim<>::dim;
};
struct model : dm::dim<8> {};
struct length : dm::dim<8> {};
struct form : dm::nn::transformer {
  using length = ::length;
  using model = ::model;
  using hidden = ::hidden;
  using expert = ::expert;
  using choice = ::choice;
  using slot = ::slot;
  static constexpr int layers = 1;
#ifdef COMPILE_FAIL
  static constexpr int expert_chunks = 32;
#else
  static constexpr int expert_chunks = 1;
#endif
};
using L = by_batch;
using experts = dm::layout<pod, dm::split<expert, rows>>;
auto f(const dm::nn::mixture_parameters<experts, form>& p,
       const dm::tensor<float, L, batch, length, model>& x) {
  return dm::nn::mixture<experts>(dm::nn::model<L, form>{}, p, x);
}
