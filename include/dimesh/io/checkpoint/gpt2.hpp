// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where are the weights of a language model in the files that GPT-2 was published as? Under other
// names, queries, keys and values side by side in one array, heads and their elements in one dim.
//
//   auto p = make<nn::language_model<C, gpt2>::parameters>(g);
//   load_safetensors("gpt2/model.safetensors", gpt2_names(p), part("model", p));
#pragma once

#include "dimesh/io/checkpoint/load.hpp"
#include "dimesh/nn/language_model.hpp"

namespace dimesh {
namespace detail::checkpoint {

/// The form of GPT-2 (Radford et al. 2019, section 2.3).
template <class M>
inline constexpr bool is_gpt2 =
    M::norm == nn::norm_kind::layer && M::positions == nn::position_kind::learned &&
    M::act == nn::activation::gelu && M::biases && M::tied && M::causal && !M::cross &&
    std::is_same_v<typename M::heads, typename nn::key_heads_of<M>::type>;

/// Throws dimesh::error unless the heads of a layer are together as wide as the model: queries,
/// keys and values lie in the file at multiples of that width.
inline void require_gpt2_heads(const tensor_core& query, index_t width) {
  index_t together = 1;
  for (int d = 1; d < query.rank(); ++d) together *= query.extent(d);
  if (together != width)
    throw error("gpt2_names: the heads of this model have " + std::to_string(together) +
                " elements together, and its width is " + std::to_string(width) +
                "; in GPT-2 both are one number: give the form as many heads as make it");
}

/// Notes tensors of one layer: its paths and the file's.
class gpt2_layer {
 public:
  gpt2_layer(load_options& to, std::string ours, std::string theirs)
      : to_(to), ours_(std::move(ours)), theirs_(std::move(theirs)) {}
  /// A norm, or another pair of which nothing is cut.
  void pair(const char* a, const char* b, const char* theirs) {
    to_.parts[ours_ + a] = {theirs_ + theirs + ".weight"};
    to_.parts[ours_ + b] = {theirs_ + theirs + ".bias"};
  }
  /// The k-th of the weights and biases side by side, each with so many columns.
  void third(const std::string& name, int k, index_t columns) {
    to_.parts[ours_ + ".attention." + name] = {theirs_ + "attn.c_attn.weight", 1, k * columns};
    to_.parts[ours_ + ".attention." + name + "_bias"] = {theirs_ + "attn.c_attn.bias", 0,
                                                         k * columns};
  }
  void unused(const char* theirs) { to_.unused.insert(theirs_ + theirs); }

 private:
  load_options& to_;
  std::string ours_, theirs_;
};

}  // namespace detail::checkpoint

/// What load_safetensors must know to read weights of GPT-2 into p, which is loaded as a part of
/// this name. `prefix` stands before all names of the file, "transformer." in some. Of positions,
/// the first are taken where the file has more. The file's masks are left alone. Precisions are
/// converted. Throws dimesh::error where heads are not together as wide as the model.
template <class L, class Form>
load_options gpt2_names(const nn::language_model_parameters<L, Form>& p,
                        const std::string& part = "model", const std::string& prefix = "") {
  using M = nn::form_of<Form>;
  static_assert(detail::checkpoint::is_gpt2<M>,
                "gpt2_names: this form is not GPT-2's, which has layer norms, learned positions, "
                "gelu, biases, a key for each query, a tied embedding; take nn::transformer's");
  load_options o{.casts = true};
  const std::string ours = part.empty() ? part : part + ".";
  o.names = {{ours + "embedding", prefix + "wte.weight"},
             {ours + "last.gain", prefix + "ln_f.weight"},
             {ours + "last.bias", prefix + "ln_f.bias"}};
  o.parts[ours + "positions"] = {prefix + "wpe.weight"};
  o.unused = {prefix + "lm_head.weight", "lm_head.weight"};
  const index_t width = detail::core_of(p.embedding).extent(1);
  for (const auto& layer : p.layers)
    detail::checkpoint::require_gpt2_heads(detail::core_of(layer.attention.query), width);
  for (int i = 0; i < M::layers; ++i) {
    const std::string number = std::to_string(i);
    detail::checkpoint::gpt2_layer layer(o, ours + "layers[" + number + "]",
                                         prefix + "h." + number + ".");
    layer.pair(".norm1.gain", ".norm1.bias", "ln_1");
    layer.third("query", 0, width);
    layer.third("key", 1, width);
    layer.third("value", 2, width);
    layer.pair(".attention.output", ".attention.output_bias", "attn.c_proj");
    layer.pair(".norm2.gain", ".norm2.bias", "ln_2");
    layer.pair(".feed_forward.up", ".feed_forward.up_bias", "mlp.c_fc");
    layer.pair(".feed_forward.down", ".feed_forward.down_bias", "mlp.c_proj");
    layer.unused("attn.bias");
    layer.unused("attn.masked_bias");
  }
  return o;
}

}  // namespace dimesh
