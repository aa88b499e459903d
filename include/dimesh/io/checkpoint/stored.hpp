// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where is a tensor in a file whose writer cut things otherwise? As a part of a larger tensor, or
// under dims that stand for several of ours: queries, keys and values in one array, say.
//
//   {.parts = {{"m.key", {"attn.weight", 1, 768}}}}    key [model 768, heads 12, head 64]
//     -> columns 768 to 1535 of attn.weight (768, 2304)
//   {.parts = {{"m.output", {"proj.weight"}}}}         output [heads 12, head 64, model 768]
//     -> all of proj.weight (768, 768)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dimesh/detail/config.hpp"

namespace dimesh {

/// A part of a file's tensor: along its dim `dim` the elements from `begin` on, as many as the
/// program's tensor has there; all of its other dims. A dim of the file may be several of the
/// program's, side by side in the same order.
struct stored_part {
  std::string name;   ///< of the file's tensor
  int dim = 0;        ///< counted from 0
  index_t begin = 0;  ///< in elements along dim
};

namespace detail::checkpoint {

/// How the dims of a tensor step through the file's, and where its first element is; in elements.
struct stored_place {
  index_t first = 0;
  std::vector<index_t> step;
};

/// Where a tensor of extents `want` is in one of extents `shape`; nothing where the part is none.
inline std::optional<stored_place> place_of_part(const std::vector<index_t>& shape,
                                                 const std::vector<index_t>& want,
                                                 const stored_part& part) {
  const std::size_t rank = shape.size();
  if (part.dim < 0 || static_cast<std::size_t>(part.dim) >= rank || part.begin < 0) return {};
  const auto cut = static_cast<std::size_t>(part.dim);
  // Dims of the file before the one that is cut are made up from the front, those behind it from
  // the back; what is left stands along it.
  std::size_t from = 0, to = want.size();
  for (std::size_t f = 0; f < cut; ++f) {
    index_t n = 1;
    while (n != shape[f] && from < to) n *= want[from++];
    if (n != shape[f]) return {};
  }
  stored_place place{0, std::vector<index_t>(want.size())};
  index_t step = 1;
  for (std::size_t f = rank; f-- > cut + 1;) {
    index_t n = 1;
    while (n != shape[f] && from < to) place.step[--to] = step * n, n *= want[to];
    if (n != shape[f]) return {};
    step *= n;
  }
  place.first = part.begin * step;
  index_t n = 1;
  while (from < to) place.step[--to] = step * n, n *= want[to];
  if (part.begin > shape[cut] || n > shape[cut] - part.begin) return {};
  // Of the front once more, now that it is known what an element there steps over.
  step *= shape[cut];
  for (; from > 0; step *= want[from]) place.step[--from] = step;
  return place;
}

}  // namespace detail::checkpoint
}  // namespace dimesh
