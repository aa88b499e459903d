// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do checked builds know of an operation while it runs? Its name and operands, which ranks
// compare before each collective that it makes.
//
//   const checked_run here(op, x);      // in run_plain, where DIMESH_CHECKED is defined
#pragma once

#include <type_traits>

#include "dimesh/core/kept_replicas.hpp"
#include "dimesh/detail/rule_uses.hpp"

namespace dimesh::detail {

inline extent_history extents_of_operands(operands x) {
  extent_history h;
  for (int k = 0; k < x.count(); ++k) x[k].add_extents(h);
  return h;
}

/// While one lives, its operation runs; nothing on shapes.
class [[nodiscard]] checked_run {
 public:
  constexpr checked_run(const operation& op, operands x) {
    if (!std::is_constant_evaluated() && !x[0].is_shape) begin(op, x);
  }
  /// The results are made of what the operands were made of.
  constexpr void remember(results y) const {
    if (std::is_constant_evaluated() || !began_) return;
    for (int i = 0; i < y.count(); ++i)
      if (y.has(i)) y[i].set_history(doing::now().extents);
  }
  checked_run(const checked_run&) = delete;
  checked_run& operator=(const checked_run&) = delete;
  constexpr ~checked_run() {
    if (!std::is_constant_evaluated() && began_) end();
  }

 private:
  void begin(const operation& op, operands x) {
    before_ = doing::now();
    began_ = true;
    doing::now() = {op.facts->name, hash_of_operands(x), extents_of_operands(x)};
  }
  void end() {
    doing::now() = before_;
    kept_blocks::end_offer();
  }
  doing before_{};
  bool began_ = false;
};

/// Before an operation runs. That of `broadcast` is there to make ranks alike.
inline void require_replicas_of(const operation& op, results y, operands x) {
  if (op.facts->name == "broadcast") return kept_replicas(x[0].grid).clear();
  notices_messages sent = messages_of(op, y, x);
  if (!sent.any) return keep_replicas(op, x);
  for (int k = 0; k < x.count(); ++k)
    require_replicas(op.facts->name, "operand " + std::to_string(k + 1), x[k]);
  if (on_one_grid(y, x)) kept_blocks::shown() = {&kept_replicas(x[0].grid), std::move(sent.along)};
}

/// Before an operation runs on data, its results being placed.
inline void check_before(const operation& op, results y, operands x) {
  for (int i = 0; i < y.count(); ++i)
    for (int d = 0; y.has(i) && d < y[i].rank(); ++d)
      rule_uses::here().add_dim(y[i].facts->dim[d]->number);
  require_replicas_of(op, y, x);
}

}  // namespace dimesh::detail
