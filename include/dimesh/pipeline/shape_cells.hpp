// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do cells run when nothing is to be computed? On shapes: what they take, hold and send is
// entered in a tally.
//
//   tally t;
//   const shape_weights here(cells, t);              // the cells' weights are shapes from now on
//   cell_run r(*cells[0], as_shapes(x, &t), 0, true, true);
#pragma once

#include <span>

#include "dimesh/pipeline/cell_run.hpp"

namespace dimesh::detail::pipeline {

/// A tensor without elements, that costs no memory: it was there before.
inline tensor_core as_shape(const tensor_core& x, tally* t) {
  tensor_core s = x;
  s.become_shape(nullptr);
  s.count = t;
  return s;
}
inline cores as_shapes(const cores& x, tally* t) {
  cores all;
  for (const tensor_core& one : x) all.push_back(as_shape(one, t));
  return all;
}

/// Shapes in place of weights, while this lives; then cells have neither.
class shape_weights {
 public:
  shape_weights(std::span<cell_base* const> cells, tally& t) : cells_(cells) {
    for (cell_base* c : cells_) {
      c->weights = as_shapes(c->weights, &t);
      c->sums.assign(c->weights.size(), tensor_core{});
    }
  }
  shape_weights(const shape_weights&) = delete;
  ~shape_weights() {
    for (cell_base* c : cells_)
      for (tensor_core& one : c->sums) one = tensor_core{};
  }

 private:
  std::span<cell_base* const> cells_;
};

}  // namespace dimesh::detail::pipeline
