#pragma once
#include "dimesh/local/map.hpp"
#include "dimesh/local/loops.hpp"
#include <array>
namespace dimesh::local {
template <int N, class F> void stand_in_walk(const loops<N>& l, const F& f) {
  if (l.size() == 0) return;
  index_t at[max_dims] = {};
  while (true) {
    std::array<index_t, N> o{};
    for (int k = 0; k < N; ++k) for (int g = 0; g < l.groups; ++g) o[k] += at[g] * l.stride[k][g];
    f(o);
    int g = l.groups - 1;
    for (; g >= 0; --g) { if (++at[g] < l.extent[g]) break; at[g] = 0; }
    if (g < 0) return;
  }
}
}
