// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over arrays as only a run knows them, drawn at random: what tests of kernels over loops
// (local/loops.hpp) run on.
//
//   draws draw(7);
//   auto p = random_plan<3>(draw, {lacks::nothing, lacks::anything, lacks::anything});
//   p.l -> loops<3>   p.size[k] -> elements of array k   p.offset(k, e) -> its place at position e
#pragma once

#include "dimesh/element/bfloat16.hpp"
#include "dimesh/local/loops.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace dimesh_test {

using dimesh::index_t;

struct draws {
  std::mt19937 engine;
  explicit draws(unsigned seed) : engine(seed) {}
  int below(int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }
};

/// nothing: every group, in order. anything: some groups, in any order.
enum class lacks { nothing, anything };

template <int N> struct plan {
  dimesh::local::loops<N> l;
  index_t size[N];

  index_t offset(int k, index_t e) const {
    index_t at = 0;
    for (int g = l.groups - 1; g >= 0; --g) {
      at += e % l.extent[g] * l.stride[k][g];
      e /= l.extent[g];
    }
    return at;
  }
};

/// Strides of an array that stores the groups of `order`, the last one side by side.
template <int N> void lay_out(plan<N>& p, int k, const std::vector<int>& order) {
  p.size[k] = 1;
  for (auto g = order.rbegin(); g != order.rend(); ++g) {
    p.l.stride[k][*g] = p.size[k];
    p.size[k] *= p.l.extent[*g];
  }
}

/// Groups of these extents; array k stores those of orders[k], the last one side by side.
template <int N>
plan<N> plan_of(const std::vector<index_t>& extent,
                const std::array<std::vector<int>, static_cast<std::size_t>(N)>& orders) {
  plan<N> p{};
  p.l.groups = static_cast<int>(extent.size());
  std::copy(extent.begin(), extent.end(), p.l.extent);
  for (int k = 0; k < N; ++k) lay_out(p, k, orders[static_cast<std::size_t>(k)]);
  return p;
}

template <int N> plan<N> random_plan(draws& draw, const std::array<lacks, N>& how) {
  plan<N> p{};
  p.l.groups = draw.below(30) == 0 ? 0 : 1 + draw.below(4);
  index_t total = 1;
  for (int g = 0; g < p.l.groups; ++g) {
    const int kind = draw.below(60);
    index_t n = kind == 0   ? 0
                : kind < 8  ? 1
                : kind < 40 ? 2 + draw.below(16)
                            : 64 + draw.below(300);
    if (total * n > 60000) n = 1 + draw.below(3);
    p.l.extent[g] = n;
    total *= std::max<index_t>(n, 1);
  }
  for (int k = 0; k < N; ++k) {
    std::vector<int> order;
    for (int g = 0; g < p.l.groups; ++g) {
      if (how[static_cast<std::size_t>(k)] == lacks::nothing || draw.below(4) != 0)
        order.push_back(g);
    }
    if (how[static_cast<std::size_t>(k)] == lacks::anything && draw.below(3) == 0)
      std::shuffle(order.begin(), order.end(), draw.engine);
    lay_out(p, k, order);
  }
  return p;
}

/// Elements that repeat late: multiples of 1/8 in (-4, 4), so that sums are exact.
template <class T> std::vector<T> elements(index_t n, int salt) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (index_t k = 0; k < n; ++k) {
    const double v = static_cast<double>((k * 37 + 11 + salt * 17) % 61 - 30) / 8;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      x[static_cast<std::size_t>(k)] = static_cast<T>(static_cast<long long>(v));
    else
      x[static_cast<std::size_t>(k)] = static_cast<T>(v);
  }
  return x;
}

/// Memory that no kernel has written.
template <class T> std::vector<T> spoilt(index_t n) {
  std::vector<T> x(static_cast<std::size_t>(n));
  if (n > 0) std::memset(static_cast<void*>(x.data()), 0xff, x.size() * sizeof(T));
  return x;
}

template <class T> bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace dimesh_test
