// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can a training run not keep, and what does one read then? One sentence: of what has no
// tensors, is const, ends at once or has no name.
//
//   run.keep("adam", adam{})  -> not_a_tensor<adam>      run.keep(params)  -> wrong_arguments<...>
#pragma once

#include "dimesh/core/any_argument.hpp"
#include "dimesh/io/checkpoint/parts.hpp"
#include "dimesh/optim/schedule.hpp"
#include "dimesh/optim/state.hpp"

namespace dimesh::detail {

/// What cannot be kept of an S.
template <class S, class Plain = std::remove_const_t<S>> struct kept_fault_of {
  static constexpr bool is_none =
      !ScheduleOfNumbers<Plain> && !OptimizerState<Plain> && !std::is_same_v<Plain, std::string> &&
      (std::is_scalar_v<Plain> ||
       std::is_same_v<typename walk_fault<Plain>::type, member_not_walked<Plain>>);
  using type =
      typename first_of<std::conditional_t<is_none, not_a_tensor<Plain>, no_fault>,
                        std::conditional_t<std::is_const_v<S>, parameters_are_const<S>, no_fault>,
                        checkpoint::part_fault<S>>::type;
};
template <class S> using kept_fault = typename kept_fault_of<S>::type;

/// What a training run's keep() does not take.
class refused_keeps {
 protected:
  /// What ends with this line, and what has no name.
  template <class S>
    requires(!std::is_reference_v<S>)
  void keep(const std::string&, S&&) {
    static_assert(ok<wrong_arguments<S>>,
                  "training_run::keep: what is kept is saved later, and this ends with this line; "
                  "name it: auto state = adam.start(params); run.keep(\"adam\", state)");
  }
  template <class... No>
    requires(sizeof...(No) == 0)
  void keep(any_argument) {
    static_assert(ok<wrong_arguments<nothing<No...>>>,
                  "training_run::keep: a name comes first, by which it is found in checkpoints: "
                  "run.keep(\"model\", params)");
  }
};

}  // namespace dimesh::detail
