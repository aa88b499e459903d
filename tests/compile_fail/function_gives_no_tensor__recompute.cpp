// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a recomputed function returns: nothing, or tensors where no walk finds them.
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/op/batch_norm.hpp>
#include <optional>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
using recorded = dm::tracked_tensor<row>;

// mistake: function_gives_no_tensor__recompute
// expect: recompute: the function returns nothing; return a tensor or a struct of them
// expect: function_gives_no_tensor<void>
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& w) { (void)dm::mean(w); };
auto f(const row& w) { return dm::recompute(loss)(w); }
#else
constexpr auto loss = [](const auto& w) { return dm::mean(w); };
auto f(const row& w) { return dm::recompute(loss)(w); }
#endif

// mistake: function_gives_no_tensor__not_described
// expect: recompute: the function returns a struct that is not described, and so would lose gradients; return its tensors in a std::tuple, or describe it
// expect: function_gives_no_tensor<dimesh::batch_normed<
#ifdef COMPILE_FAIL
constexpr auto block = [](const auto& w) { return dm::batch_norm<hidden>(w); };
auto f(const recorded& w) { return dm::recompute(block)(w); }
#else
constexpr auto block = [](const auto& w) {
  const auto all = dm::batch_norm<hidden>(w);
  return std::tuple{all.y, all.mean, all.variance};
};
auto f(const recorded& w) { return dm::recompute(block)(w); }
#endif

// mistake: function_gives_no_tensor__optional
// expect: recompute: the function returns a struct that is not described
// expect: function_gives_no_tensor<std::optional<
#ifdef COMPILE_FAIL
constexpr auto perhaps = [](const auto& w) { return std::optional{w + w}; };
auto f(const recorded& w) { return dm::recompute(perhaps)(w); }
#else
constexpr auto perhaps = [](const auto& w) { return std::optional{dm::stop_gradient(w)}; };
auto f(const recorded& w) { return dm::recompute(perhaps)(w); }
#endif
