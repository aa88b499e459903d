// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run that trains or writes does not take.
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/generate/source_cache.hpp>
#include <dimesh/nn/generate/step.hpp>
#include <dimesh/train/histogram.hpp>

#include "names.hpp"

namespace nn = dimesh::nn;
struct length : dm::dim<4> {};
struct heads : dm::dim<2> {};
struct head : dm::dim<3> {};
struct width : dm::dim<6> {};
struct vocab : dm::dim<8> {};
struct gpt : nn::transformer {
  using batch = ::batch;
  using length = ::length;
  using model = ::width;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 1;
};
struct looking_ahead : gpt {
  static constexpr bool causal = false;
};
struct other_text : dm::dim<4> {};
struct translation : gpt {
  using source = other_text;
};
struct translation_ahead : translation {
  static constexpr bool causal = false;
};
template <class M> using model = nn::language_model<by_batch, M>;
template <class M> using parameters = nn::language_model_parameters<by_batch, M>;
template <class M> using cache = nn::text_cache<by_batch, M>;
using ids = nn::tokens<by_batch, gpt, nn::next_tokens>;

// mistake: feed_model_that_looks_ahead
// expect: feed: the model looks ahead, or at an encoder's result; give one that is causal and on its own
#ifdef COMPILE_FAIL
auto f(const parameters<looking_ahead>& p, const ids& x, cache<looking_ahead>& kept) {
  return nn::feed(model<looking_ahead>(), p, x, kept);
}
#else
auto f(const parameters<gpt>& p, const ids& x, cache<gpt>& kept) {
  return nn::feed(model<gpt>(), p, x, kept);
}
#endif

// mistake: feed_decoder_that_looks_ahead
// expect: feed: the decoder looks ahead; give one that is causal
template <class M> using pair = nn::encoder_decoder<by_batch, M>;
template <class M> using written = nn::translation_cache<by_batch, M>;
#ifdef COMPILE_FAIL
auto f(const pair<translation_ahead>::parameters& p, const ids& x,
       written<translation_ahead>& kept) {
  return nn::feed(pair<translation_ahead>(), p, x, kept);
}
#else
auto f(const pair<translation>::parameters& p, const ids& x, written<translation>& kept) {
  return nn::feed(pair<translation>(), p, x, kept);
}
#endif

// mistake: histogram_of_complex
// expect: histogram_of: the elements are not real numbers; take real(x) or imag(x)
#ifdef COMPILE_FAIL
auto f(const dm::tensor<Kokkos::complex<float>, by_batch, batch>& x) { return dm::histogram_of(x); }
#else
auto f(const dm::tensor<Kokkos::complex<float>, by_batch, batch>& x) {
  return dm::histogram_of(dm::real(x));
}
#endif
