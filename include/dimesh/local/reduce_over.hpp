#pragma once
// stand-in
#include "dimesh/local/map_over.hpp"
#include "dimesh/local/stand_in.hpp"
#include "dimesh/local/reduce.hpp"
#include <vector>
namespace dimesh::local {
template <class Space = default_space, class Join, class Y, class F, class... X>
void map_reduce_over(Join, const loops<1 + sizeof...(X)>& l, const F& f, Y* y, const X*... x) {
  using T = computed<Y>;
  index_t n = 1; for (int g = 0; g < l.groups; ++g) if (l.stride[0][g]) n *= l.extent[g];
  std::vector<T> s(n, Join::template identity<T>());
  T* sp = s.data();
  std::vector<char> dummy;
  stand_in_walk(l, [&](const auto& o) { [&]<std::size_t... K>(std::index_sequence<K...>) { sp[o[0]] = Join::join(sp[o[0]], static_cast<T>(f(static_cast<computed<X>>(x[o[K + 1]])...))); }(std::index_sequence_for<X...>{}); });
  for (index_t i = 0; i < n; ++i) dimesh::store(y[i], sp[i]);
}
}
