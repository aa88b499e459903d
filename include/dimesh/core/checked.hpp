// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do checked builds know of an operation while it runs? Its name and operands, which ranks
// compare before each collective that it makes.
//
//   const checked_run here(op, x);      // in run_plain, where DIMESH_CHECKED is defined
#pragma once

#include <type_traits>

#include "dimesh/core/replicas.hpp"
#include "dimesh/detail/rule_uses.hpp"

namespace dimesh::detail {

/// Names, extents and layouts, the same on all ranks of a grid.
inline std::uint64_t hash_of_operands(operands x) {
  std::uint64_t h = hash_of("", 0);
  for (int k = 0; k < x.count(); ++k) {
    for (int d = 0; d < x[k].rank(); ++d) {
      const std::string_view name = x[k].facts->dim[d]->name;
      const index_t extent = x[k].extent(d);
      h = hash_of(name.data(), name.size(), hash_of(&extent, sizeof extent, h));
    }
    for (const cut_record* r = x[k].cuts.first(); r != nullptr; r = r->next)
      h = hash_of(r->begin.data(), r->begin.size() * sizeof(index_t), h);
    const table_code c = encoded(x[k].layout());
    const std::uint64_t parts[] = {c.uses, c.uneven, c.halo[0], c.halo[1]};
    h = hash_of(parts, sizeof parts, h);
  }
  return h;
}

/// While one lives, its operation runs; nothing on shapes.
class [[nodiscard]] checked_run {
 public:
  constexpr checked_run(const operation& op, operands x) {
    if (!std::is_constant_evaluated() && !x[0].is_shape) begin(op, x);
  }
  checked_run(const checked_run&) = delete;
  checked_run& operator=(const checked_run&) = delete;
  constexpr ~checked_run() {
    if (!std::is_constant_evaluated() && began_) doing::now() = before_;
  }

 private:
  void begin(const operation& op, operands x) {
    before_ = doing::now();
    began_ = true;
    doing::now() = {op.facts->name, hash_of_operands(x)};
  }
  doing before_{};
  bool began_ = false;
};

/// Before an operation runs on data, its results being placed.
inline void check_before(const operation& op, results y, operands x) {
  for (int i = 0; i < y.count(); ++i)
    for (int d = 0; y.has(i) && d < y[i].rank(); ++d)
      rule_uses::here().add_dim(y[i].facts->dim[d]->number);
  require_replicas_of(op, y, x);
}

}  // namespace dimesh::detail
