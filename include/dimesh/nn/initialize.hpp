// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With which numbers does training begin? Random ones whose size keeps signals of one size from
// layer to layer, keyed by the parameter's name and the element's global index: the same under
// every layout.
//
//   fill_scaled<shape<pixel>>(w, key)                      // normal, variance 1 / pixels
//   fill_glorot<shape<pixel>, shape<hidden>>(w, key)       // uniform
//   initialize_transformer<M>(params, key)                 // as GPT-2
#pragma once

#include <cmath>
#include <string_view>

#include "dimesh/create.hpp"
#include "dimesh/nn/config.hpp"

namespace dimesh::nn {

namespace detail {
template <class X, class... D> double extents_of(const X& x, shape<D...>) {
  return (1.0 * ... * static_cast<double>(x.template extent<D>()));
}

/// A key that depends on a name alone (FNV-1a).
inline random_key key_of(random_key key, std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return key.fold(h);
}
/// How many products add to the stream that this parameter's product adds to: two a layer, three in
/// a decoder that looks at an encoder.
template <class M> double sums_beside(std::string_view path) {
  if (path.starts_with("decoder.")) return 3.0 * M::layers;
  if constexpr (requires { M::encoder_layers; })
    if (path.starts_with("encoder.")) return 2.0 * M::encoder_layers;
  return 2.0 * M::layers;
}

/// What the elements of a parameter begin with: a number, or normal ones of a deviation and a key.
struct beginning {
  bool random;
  double value;
  random_key key;
};
inline beginning begin_with(const member_path& path, random_key key, double deviation,
                            double (*sums)(std::string_view)) {
  const std::string_view name = path.name();
  const std::string text = path.text();
  if (name == "gain") return {false, 1, key};
  if (name.ends_with("bias")) return {false, 0, key};
  const bool adds = name == "output" || name == "down";
  return {true, adds ? deviation / std::sqrt(sums(text)) : deviation, key_of(key, text)};
}
}  // namespace detail

/// Normal numbers of variance `gain` / fan-in, the product of the extents of In: 1 for linear
/// layers (LeCun et al. 1998), 2 before a rectifier (He et al. 2015).
template <class In, Tensor X> void fill_scaled(X& w, random_key key, double gain = 1) {
  const double fan_in = detail::extents_of(w, In{});
  fill_normal(w, key, 0, static_cast<value_of<X>>(std::sqrt(gain / fan_in)));
}

/// Uniform numbers of variance 2 / (fan-in + fan-out) (Glorot and Bengio 2010).
template <class In, class Out, Tensor X> void fill_glorot(X& w, random_key key) {
  const double fans = detail::extents_of(w, In{}) + detail::extents_of(w, Out{});
  const auto limit = static_cast<value_of<X>>(std::sqrt(6 / fans));
  fill_uniform(w, key, -limit, limit);
}

/// The initial parameters of GPT-2 (Radford et al. 2019, section 2.3): normal with standard
/// deviation `deviation`, in products that add to the stream divided by the root of their number;
/// gains 1, biases 0.
template <class M, class P>
void initialize_transformer(P& parameters, random_key key, double deviation = 0.02) {
  for_each_tensor(
      [&](const member_path& path, auto& w) {
        using T = value_of<std::remove_cvref_t<decltype(w)>>;
        const auto b = detail::begin_with(path, key, deviation, detail::sums_beside<M>);
        if (b.random)
          fill_normal(w, b.key, 0, static_cast<T>(b.value));
        else
          fill(w, static_cast<T>(b.value));
      },
      parameters);
}

}  // namespace dimesh::nn
