// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What files of weights do not hold, and models that files do not fit.
#include <dimesh/dimesh.hpp>
#include <dimesh/io/checkpoint/gpt2.hpp>
#include <dimesh/io/checkpoint/load_safetensors.hpp>
#include <dimesh/io/checkpoint/start_save.hpp>
#include <dimesh/train/run.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
using matrix = dm::tensor<float, whole, batch, hidden>;

// mistake: partial_operand__save_checkpoint
// A sum that is yet to be made is saved.
// expect: save_checkpoint: ranks hold addends of a tensor along this axis, and no elements; complete it first
// expect: partial_operand<cols>
#ifdef COMPILE_FAIL
void f(const addends& x) { dm::save_checkpoint("run", {}, {}, dm::part("x", x)); }
#else
void f(const matrix& x) { dm::save_checkpoint("run", {}, {}, dm::part("x", x)); }
#endif

// mistake: partial_operand__start_save_checkpoint
// The same while the program goes on.
// expect: start_save_checkpoint: ranks hold addends of a tensor along this axis, and no elements; complete it first
// expect: partial_operand<cols>
#ifdef COMPILE_FAIL
void f(const addends& x) { (void)dm::start_save_checkpoint("run", {}, {}, dm::part("x", x)); }
#else
void f(const matrix& x) { (void)dm::start_save_checkpoint("run", {}, {}, dm::part("x", x)); }
#endif

// mistake: partial_operand__load_checkpoint
// Elements are loaded to where ranks hold addends.
// expect: load_checkpoint: ranks hold addends of a tensor along this axis, and no elements; load a tensor of another layout
// expect: partial_operand<cols>
#ifdef COMPILE_FAIL
void f(addends& x) { dm::load_checkpoint("run", {}, dm::part("x", x)); }
#else
void f(matrix& x) { dm::load_checkpoint("run", {}, dm::part("x", x)); }
#endif

// mistake: partial_operand__training_run
// A run keeps a sum that is yet to be made.
// expect: training_run::keep: ranks hold addends of a tensor along this axis, and no elements; complete it first
// expect: partial_operand<cols>
#ifdef COMPILE_FAIL
void f(dm::training_run& run, addends& x) { run.keep("x", x); }
#else
void f(dm::training_run& run, matrix& x) { run.keep("x", x); }
#endif

// mistake: partial_operand__load_safetensors
// The same of other people's files.
// expect: load_safetensors: ranks hold addends of a tensor along this axis, and no elements; load a tensor of another layout
// expect: partial_operand<cols>
#ifdef COMPILE_FAIL
void f(addends& x) { dm::load_safetensors("run", {}, dm::part("x", x)); }
#else
void f(matrix& x) { dm::load_safetensors("run", {}, dm::part("x", x)); }
#endif

// mistake: gpt2_names_of_another_form
// Keys that are turned by their places are not GPT-2's.
// expect: gpt2_names: this form is not GPT-2's, which has layer norms, learned positions, gelu, biases, a key for each query, a tied embedding; take nn::transformer's
struct text : dm::dim<16> {};
struct heads_of : dm::dim<4> {};
struct head_of : dm::dim<16> {};
template <class Batch, class Hidden> struct form_over : dm::nn::transformer {
  using batch = Batch;
  using length = text;
  using model = Hidden;
  using heads = dm::shape<heads_of>;
  using head = head_of;
  using hidden = pixel;
  using vocab = label;
  static constexpr int layers = 2;
};
struct published : form_over<batch, hidden> {};
struct rotary : published {
  static constexpr auto positions = dm::nn::position_kind::rotary;
};
#ifdef COMPILE_FAIL
auto f(const dm::nn::language_model_parameters<by_batch, rotary>& p) { return dm::gpt2_names(p); }
#else
auto f(const dm::nn::language_model_parameters<by_batch, published>& p) {
  return dm::gpt2_names(p);
}
#endif
