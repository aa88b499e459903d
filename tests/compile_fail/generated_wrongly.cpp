// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A language model that is asked for texts with arguments of other kinds.
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/generate/generate.hpp>

#include "names.hpp"

namespace nn = dm::nn;
struct text : dm::dim<16> {};
struct heads_of : dm::dim<4> {};
struct head_of : dm::dim<16> {};
struct form : nn::transformer {
  using batch = ::batch;
  using length = text;
  using model = ::hidden;
  using heads = dm::shape<heads_of>;
  using head = head_of;
  using hidden = pixel;
  using vocab = label;
  static constexpr int layers = 2;
};
using model_of = nn::language_model<by_batch, form>;
using parameters = nn::language_model_parameters<by_batch, form>;
using prompts = std::vector<nn::token_list>;

// mistake: generated_wrongly__no_grid
// expect: nn::generate: model, parameters, grid, the prompts' tokens and options: generate(m, p, g, {{5, 3, 8}}, {.count = 20})
// expect: wrong_arguments<dimesh::nn::language_model<
// levels: 1
#ifdef COMPILE_FAIL
auto f(const model_of& m, const parameters& p, const dm::grid<pod>& g, const prompts& t) {
  return nn::generate(m, p, t, {.count = 3});
}
#else
auto f(const model_of& m, const parameters& p, const dm::grid<pod>& g, const prompts& t) {
  return nn::generate(m, p, g, t, {.count = 3});
}
#endif

// mistake: generated_wrongly__text
// expect: nn::generate: model, parameters, grid, the prompts' tokens and options: generate(m, p, g, {{5, 3, 8}}, {.count = 20})
// expect: wrong_arguments<dimesh::nn::language_model<
// levels: 1
#ifdef COMPILE_FAIL
auto f(const model_of& m, const parameters& p, const dm::grid<pod>& g, const prompts& t) {
  return nn::generate(m, p, g, "Hello", {.count = 3});
}
#else
auto f(const model_of& m, const parameters& p, const dm::grid<pod>& g, const prompts& t) {
  return nn::generate(m, p, g, t, {.count = 3});
}
#endif

// mistake: generated_wrongly__one_prompt
// expect: nn::generate: model, parameters, grid, the prompts' tokens and options: generate(m, p, g, {{5, 3, 8}}, {.count = 20})
// expect: wrong_arguments<dimesh::nn::language_model<
// levels: 1
#ifdef COMPILE_FAIL
auto f(const model_of& m, const parameters& p, const dm::grid<pod>& g, const prompts& t) {
  return nn::generate(m, p, g, t[0], {.count = 3});
}
#else
auto f(const model_of& m, const parameters& p, const dm::grid<pod>& g, const prompts& t) {
  return nn::generate(m, p, g, t, {.count = 3});
}
#endif

// mistake: generated_wrongly__number
// expect: nn::generate: model, parameters, grid, the prompts' tokens and options: generate(m, p, g, {{5, 3, 8}}, {.count = 20})
// expect: wrong_arguments<dimesh::nn::language_model<
// levels: 1
#ifdef COMPILE_FAIL
auto f(const model_of& m, const parameters& p, const dm::grid<pod>& g, const prompts& t) {
  return nn::generate(m, p, g, t, 20);
}
#else
auto f(const model_of& m, const parameters& p, const dm::grid<pod>& g, const prompts& t) {
  return nn::generate(m, p, g, t, {.count = 3});
}
#endif

// mistake: generated_wrongly__no_model
// expect: nn::generate: model, parameters, grid, the prompts' tokens and options: generate(m, p, g, {{5, 3, 8}}, {.count = 20})
// expect: wrong_arguments<dimesh::detail::nothing<>
// levels: 1
#ifdef COMPILE_FAIL
auto f(const model_of& m, const parameters& p, const dm::grid<pod>& g, const prompts& t) {
  return nn::generate(p, g, t, {.count = 3});
}
#else
auto f(const model_of& m, const parameters& p, const dm::grid<pod>& g, const prompts& t) {
  return nn::generate(m, p, g, t, {.count = 3});
}
#endif

// mistake: generated_wrongly__model_on_grid
// expect: language_model: it has no tensors, and needs no grid; its parameters do: make<language_model_parameters<L, M>>(grid)
// expect: wrong_arguments<dimesh::grid<pod>
#ifdef COMPILE_FAIL
void f(const dm::grid<pod>& g) { const model_of m(g); }
#else
auto f(const dm::grid<pod>& g) { return dm::make<parameters>(g); }
#endif
