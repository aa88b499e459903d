// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do tokens go, one after another? GShard's Algorithm 1 and its variants on whole arrays, as
// a loop over tokens.
#pragma once

#include <algorithm>

#include "dimesh/nn/moe/capacity.hpp"
#include "dimesh/random.hpp"
#include "support/oracle.hpp"

namespace test_support::moe {

namespace dm = dimesh;
namespace nn = dm::nn;

/// Positive, with ties.
inline array scores(index_t groups, index_t tokens, index_t experts, std::uint64_t seed) {
  array a = numbers({"p", "q", "r"}, {groups, tokens, experts}, seed);
  for (double& v : a.values) v = (v + 5) / 16;
  return a;
}
inline array filled(const std::string& last, const array& like, index_t n, double v) {
  return make({"p", "q", last}, {like.size[0], like.size[1], n}, [=](const extents&) { return v; });
}
struct routes {
  array chosen, slots, gates;
};
/// One after another, as the listing of Algorithm 1 does: chosen by `by`, weighed by a.
inline routes one_by_one(const nn::gating& g, const array& a, const array& valid, index_t choices,
                         const std::string& dim, const array& by) {
  const index_t tokens = a.size[1], experts = a.size[2];
  const index_t capacity = nn::capacity_of(g, choices, tokens, experts);
  routes r{filled(dim, a, choices, -1), filled(dim, a, choices, -1), filled(dim, a, choices, 0)};
  const auto at = [&](index_t i, index_t t, index_t k) {
    return static_cast<std::size_t>((i * tokens + t) * choices + k);
  };
  for (index_t i = 0; i < a.size[0]; ++i) {
    std::vector<index_t> count(static_cast<std::size_t>(experts)), line;
    std::vector<double> share(static_cast<std::size_t>(tokens * choices));
    for (index_t t = 0; t < tokens; ++t) {
      line.push_back(t);
      if (valid.values[static_cast<std::size_t>(i * tokens + t)] == 0) continue;
      std::vector<index_t> order;
      for (index_t e = 0; e < experts; ++e) order.push_back(e);
      const auto of = [&](index_t e) {
        return static_cast<std::size_t>((i * tokens + t) * experts + e);
      };
      const auto p_of = [&](index_t e) { return a.values[of(e)]; };
      std::stable_sort(order.begin(), order.end(),
                       [&](index_t e, index_t f) { return by.values[of(e)] > by.values[of(f)]; });
      double all = 0;
      for (index_t k = 0; k < choices; ++k) all += p_of(order[static_cast<std::size_t>(k)]);
      for (index_t k = 0; k < choices; ++k) {
        const index_t e = order[static_cast<std::size_t>(k)];
        r.chosen.values[at(i, t, k)] = static_cast<double>(e);
        r.gates.values[at(i, t, k)] = p_of(e);
        share[static_cast<std::size_t>(t * choices + k)] = p_of(e) / all;
      }
    }
    if (g.line == nn::line_order::by_gate)
      std::stable_sort(line.begin(), line.end(), [&](index_t t, index_t u) {
        const auto first = [&](index_t v) {
          return r.chosen.values[at(i, v, 0)] < 0 ? -1
                                                  : share[static_cast<std::size_t>(v * choices)];
        };
        return first(t) > first(u);
      });
    for (index_t k = 0; k < choices; ++k)
      for (const index_t t : line) {
        const double e = r.chosen.values[at(i, t, k)];
        if (e < 0) continue;
        const bool taken = k == 0 || g.later == nn::later_choices::all ||
                           share[static_cast<std::size_t>(t * choices + k)] / g.threshold >
                               dm::uniform_at<double>(g.key, (i * tokens + t) * choices + k);
        if (!taken && g.later == nn::later_choices::random_freeing) continue;
        const index_t place = count[static_cast<std::size_t>(e)]++;
        if (taken && place < capacity)
          r.slots.values[at(i, t, k)] =
              e * static_cast<double>(capacity) + static_cast<double>(place);
      }
    for (index_t t = 0; t < tokens && g.gates != nn::renormalise::never; ++t) {
      double all = 0;
      for (index_t k = 0; k < choices; ++k) {
        double& w = r.gates.values[at(i, t, k)];
        if (g.gates == nn::renormalise::after_drops && r.slots.values[at(i, t, k)] < 0) w = 0;
        all += w;
      }
      for (index_t k = 0; k < choices && all > 0; ++k) r.gates.values[at(i, t, k)] /= all;
    }
  }
  return r;
}
inline routes one_by_one(const nn::gating& g, const array& a, const array& valid, index_t choices,
                         const std::string& dim) {
  return one_by_one(g, a, valid, choices, dim, a);
}

/// Experts choose, one after another: the tokens of each group that they weigh most.
inline routes chosen_by_experts(const nn::gating& g, const array& a, const array& valid,
                                const std::string& dim) {
  const index_t tokens = a.size[1], experts = a.size[2];
  const index_t capacity = nn::capacity_of(g, 1, tokens, experts);
  routes r{filled(dim, a, experts, -1), filled(dim, a, experts, -1), a};
  r.gates.dims[2] = dim;
  for (index_t i = 0; i < a.size[0]; ++i)
    for (index_t e = 0; e < experts; ++e) {
      const auto at = [&](index_t t) {
        return static_cast<std::size_t>((i * tokens + t) * experts + e);
      };
      std::vector<index_t> line;
      for (index_t t = 0; t < tokens; ++t)
        if (valid.values[static_cast<std::size_t>(i * tokens + t)] != 0) line.push_back(t);
      std::stable_sort(line.begin(), line.end(),
                       [&](index_t t, index_t u) { return a.values[at(t)] > a.values[at(u)]; });
      for (std::size_t c = 0; c < line.size() && static_cast<index_t>(c) < capacity; ++c) {
        r.slots.values[at(line[c])] = static_cast<double>(e * capacity) + static_cast<double>(c);
        r.chosen.values[at(line[c])] = static_cast<double>(e);
      }
    }
  return r;
}

}  // namespace test_support::moe
