// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A time step that gives a number instead of a state.
// expect: value_and_grad_by: a step gives a tensor of another type than it takes; relayout its result to the layout of the state
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/revolve.hpp>
#include <dimesh/pipeline/run_plan.hpp>

namespace dm = dimesh;
struct place : dm::dim<8> {};
struct line : dm::axis<2> {};
struct pod : dm::mesh<line> {};
using here = dm::layout<pod>;
using rod = dm::tensor<double, here, place>;

auto adjoint(const dm::tensor<double, here>& w, const rod& u) {
#ifdef COMPILE_FAIL
  const auto step = [](const auto& k, const auto& v) { return dm::sum(v * k); };
#else
  const auto step = [](const auto& k, const auto& v) { return v * k; };
#endif
  return dm::value_and_grad_by(dm::revolve{10, 3}, step, w, u,
                               [](const auto& v) { return dm::sum(v * v); });
}
