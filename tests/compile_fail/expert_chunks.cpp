// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each chunk is a move that is under way, and so many operands of the operation that joins them.
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
template <int Chunks> struct form : dm::nn::transformer {
  using length = ::length;
  using model = ::model;
  using hidden = ::hidden;
  using expert = ::expert;
  using choice = ::choice;
  using slot = ::slot;
  static constexpr int layers = 1;
  static constexpr int expert_chunks = Chunks;
};
using L = by_batch;
using experts = dm::layout<pod, dm::split<expert, rows>>;
template <int Chunks> using weights = dm::nn::mixture_parameters<experts, form<Chunks>>;
using tokens = dm::tensor<float, L, batch, length, model>;
struct first_choices {
  template <class X> auto operator()(const X& of) const {
    return dm::nn::route_by<length, expert, choice>(dm::nn::gating{}, of, of);
  }
};

// mistake: expert_chunks__mixture
// expect: mixture: the form asks for more expert_chunks than can be under way at a time; 16 is the most
#ifdef COMPILE_FAIL
auto f(const weights<32>& p, const tokens& x) {
  return dm::nn::mixture<experts>(dm::nn::model<L, form<32>>{}, p, x);
}
#else
auto f(const weights<1>& p, const tokens& x) {
  return dm::nn::mixture<experts>(dm::nn::model<L, form<1>>{}, p, x);
}
#endif

// mistake: expert_chunks__mixture_by
// expect: mixture_by: the form asks for more expert_chunks than can be under way at a time; 16 is the most
#ifdef COMPILE_FAIL
auto g(const weights<32>& p, const tokens& x) {
  return dm::nn::mixture_by<experts>(dm::nn::model<L, form<32>>{}, p, x, first_choices{});
}
#else
auto g(const weights<1>& p, const tokens& x) {
  return dm::nn::mixture_by<experts>(dm::nn::model<L, form<1>>{}, p, x, first_choices{});
}
#endif
