// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who goes backwards? Whoever takes a gradient: by this. A function has run once on variables; here
// are its tape, and where the way back begins. A pullback keeps one until it is called (vjp.hpp);
// value_and_grad goes back at once, from 1; overlapped sums listen meanwhile; a recomputed block is
// one inside another's way back; a tangent is one of which the way back is recorded (jvp.hpp); a
// stage of a pipeline keeps one for each micro-batch.
//
//   recorded_run r;
//   const storage behind = r.open<P>(variables, params);    // variables in the form of params
//   const auto y = f(variables, x);
//   if (r.begin_at(core_of(y), "vjp")) r.seed(ybar);
//   r.backward();
//   r.collect<P>("vjp", gradients, variables);
//
// What is typed here takes lists of cores at once, so that a layout costs the compiler little.
#pragma once

#include "dimesh/core/tracked.hpp"
#ifdef DIMESH_CHECKED
#include "dimesh/detail/unreached.hpp"
#endif
#include "dimesh/grad/variables.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh::detail {

/// Variables of parameters that are recorded themselves: so are the sums of their cotangents.
template <class V> constexpr void sum_where_recorded(const V& variables) {
  if constexpr (any_nested<typename leaves<V>::type>)
    for_each_tensor(
        [](const auto&, const auto& v) {
          using X = std::remove_cvref_t<decltype(v)>;
          if constexpr (tracked_depth<X> > 1)
            v.cell()->sum = &sum_recorded<value_of<X>, tracked_depth<X> - 1>;
        },
        variables);
}

/// One run of a function, and its way back. Owns its tape; does not move.
class recorded_run {
 public:
  tape nodes;

  constexpr recorded_run() = default;
  /// Inside the way back of another tape.
  constexpr explicit recorded_run(const tape& around) {
    nodes.level = around.level;
    nodes.listener = around.listener;
  }

  /// The variables of x, which have its form P. Returns the room behind their gradients.
  template <class P, class V, class X> constexpr storage open(V& variables, const X& x) {
    const core_list<P> to(variables);
    storage behind = open(core_list<P>(x).at, to.at, to.size);
    sum_where_recorded(variables);
    return behind;
  }
  constexpr storage open(const tensor_core* const* x, tensor_core* const* variables, int count,
                         gradients_lie where = gradients_lie::side_by_side) {
    storage behind = open_variables(nodes, x, variables, count, where);
    start_ = nodes.last();
    return behind;
  }
  /// The function's value. False where nothing recorded went into it: no cotangent of it goes
  /// anywhere. Throws dimesh::error, in the name of a call, if another tape has recorded it.
  constexpr bool begin_at(const tensor_core& y, std::string_view call) {
    value_ = start_of(nodes, y, call);
    return value_ != nullptr;
  }
  /// The value's cotangent.
  constexpr void seed(tensor_core ybar) { value_->add(std::move(ybar)); }
  constexpr bool is_reached() const { return value_ != nullptr; }

  /// All of the way back; or the part of it that inputs need (tape.hpp), before all of the rest.
  constexpr void backward() { nodes.backward(start_); }
  constexpr void backward_inputs() { nodes.backward_inputs(start_); }

  /// The cotangents of the variables, in their form.
  template <class P, class V, class G>
  constexpr void collect([[maybe_unused]] const char* call, G& gradients, V& variables) {
#ifdef DIMESH_CHECKED
    if (!std::is_constant_evaluated()) name_unreached(call, variables);
#endif
    const core_list<P> to(gradients);
    collect_gradients(to.at, core_list<P>(variables).at, to.size);
  }

 private:
  const node_base* start_ = nullptr;
  cell* value_ = nullptr;
};

}  // namespace dimesh::detail
