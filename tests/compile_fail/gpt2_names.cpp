// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models that GPT-2's weights do not fit.
#include <dimesh/dimesh.hpp>
#include <dimesh/io/checkpoint/gpt2.hpp>

#include "names.hpp"

struct length : dm::dim<16> {};
struct model : dm::dim<64> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<16> {};
struct vocab : dm::dim<100> {};
struct form : dm::nn::transformer {
  using batch = ::batch;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 2;
};
struct rotary : form {
  static constexpr auto positions = dm::nn::position_kind::rotary;
};

// mistake: gpt2_names_of_another_form
// expect: gpt2_names: this form is not GPT-2's, which has layer norms, learned positions, gelu, biases
#ifdef COMPILE_FAIL
auto f(const dm::nn::language_model_parameters<by_batch, rotary>& p) { return dm::gpt2_names(p); }
#else
auto f(const dm::nn::language_model_parameters<by_batch, form>& p) { return dm::gpt2_names(p); }
#endif
