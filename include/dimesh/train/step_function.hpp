// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read whose step is a function of another kind? One sentence, where it is set.
//
//   loop.step = [&](index_t) { return value(loss); };
//     -> wrong_arguments<F>: training_loop: a step takes its number, and ...
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dimesh/detail/config.hpp"
#include "dimesh/layout/fault.hpp"
#include "dimesh/layout/poison.hpp"

namespace dimesh {

/// Numbers with names, the same on all ranks.
struct metric {
  std::string name;
  double value = 0;
};
using metrics = std::vector<metric>;

/// A std::function<metrics(index_t step)> that says what another function should be.
class step_function : public std::function<metrics(index_t)> {
  using of_std = std::function<metrics(index_t)>;
  template <class F>
  static constexpr bool is_one = std::is_base_of_v<step_function, std::remove_cvref_t<F>>;

 public:
  step_function() = default;
  step_function(std::nullptr_t) {}  // NOLINT: as that of std
  template <class F>
    requires(!is_one<F> && std::is_constructible_v<of_std, F>)
  step_function(F&& f) : of_std(std::forward<F>(f)) {}  // NOLINT: as that of std
  template <class F>
    requires(!is_one<F> && std::is_constructible_v<of_std, F>)
  step_function& operator=(F&& f) {
    of_std::operator=(std::forward<F>(f));
    return *this;
  }

  template <class F>
    requires(!std::is_constructible_v<of_std, F> && !std::is_base_of_v<poison, F>)
  step_function& operator=(const F&) {
    say<F>();
    return *this;
  }
  template <class F>
    requires(!std::is_constructible_v<of_std, F> && !std::is_base_of_v<poison, F>)
  step_function(const F&) {  // NOLINT: as that of std
    say<F>();
  }

 private:
  template <class F> static void say() {
    static_assert(ok<wrong_arguments<F>>,
                  "training_loop: a step takes its number, and returns numbers with names: "
                  "[&](index_t) -> metrics { ...; return {{\"loss\", value(loss)}}; }");
  }
};

}  // namespace dimesh
