#pragma once
// stand-in
#include "dimesh/local/map_over.hpp"
#include "dimesh/local/stand_in.hpp"
#include "dimesh/local/map_transpose.hpp"
#include <vector>
namespace dimesh::local {
template <unsigned Mask, class Space = default_space, class F, class B, class... X>
void map_transpose_over(const loops<1 + sizeof...(X)>& l, const F& f, const B* ybar, const std::array<void*, sizeof...(X)>& bars, const X*... x) {
  constexpr int N = sizeof...(X);
  std::array<std::vector<double>, N> s;
  for (int k = 0; k < N; ++k) { index_t n = 1; for (int g = 0; g < l.groups; ++g) if (l.stride[k + 1][g]) n *= l.extent[g]; s[k].assign(n, 0); }
  using D = dual<double, N>;
  stand_in_walk(l, [&](const auto& o) { [&]<std::size_t... K>(std::index_sequence<K...>) {
    const auto y = f(detail::seeded<D, (Mask >> K & 1u) ? int(K) : -1>([&] { if constexpr (is_real<X>) return static_cast<double>(static_cast<computed<X>>(x[o[K + 1]])); else return x[o[K + 1]]; }())...);
    ((bars[K] && (Mask >> K & 1u) ? void(s[K][o[K + 1]] += double(static_cast<computed<B>>(ybar[o[0]])) * detail::partial_of<(Mask >> K & 1u) ? int(K) : 0, double>(y)) : void()), ...);
  }(std::index_sequence_for<X...>{}); });
  [&]<std::size_t... K>(std::index_sequence<K...>) { ([&] { if constexpr (is_real<X>) if (bars[K]) for (std::size_t i = 0; i < s[K].size(); ++i) dimesh::store(static_cast<X*>(bars[K])[i], s[K][i]); }(), ...); }(std::index_sequence_for<X...>{});
}
}
