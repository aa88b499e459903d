// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor of the program stand in a file? Under its name, with extents and dims.
//
//   entry_of({"model.w", &core})   -> {"model.w", float32, {8, 4}}
//   dims_of(core)                  -> "batch hidden"
#pragma once

#include <string>

#include "dimesh/core/tensor_core.hpp"
#include "dimesh/io/checkpoint/parts.hpp"
#include "dimesh/io/checkpoint/safetensors.hpp"

namespace dimesh::detail::checkpoint {

/// How a tensor stands in a file. complex<double>, which the format lacks, as pairs of doubles.
inline safetensors_entry entry_of(const named_core& x) {
  const tensor_facts& f = *x.core->facts;
  safetensors_entry e{x.name, f.kind, {}, 0, 0};
  for (int d = 0; d < f.rank; ++d) e.shape.push_back(x.core->extent(d));
  if (f.kind == element_kind::complex128) {
    e.kind = element_kind::float64;
    e.shape.push_back(2);
  }
  return e;
}
/// "batch hidden"
inline std::string dims_of(const tensor_core& x) {
  std::string s;
  for (int d = 0; d < x.rank(); ++d) s += (d > 0 ? " " : "") + std::string(x.facts->dim[d]->name);
  return s;
}

}  // namespace dimesh::detail::checkpoint
