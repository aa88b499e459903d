// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a block get to a file without MPI, while the tensor is changed already? As a copy that
// knows where its rows belong.
//
//   copied_block b = copy_of(core_of(x), at);   // at: where the tensor begins in the file
//   b.write(file);                              // from any thread
#pragma once

#include <utility>
#include <vector>

#include "dimesh/core/replicas.hpp"
#include "dimesh/io/checkpoint/blocks.hpp"
#include "dimesh/io/checkpoint/files.hpp"

namespace dimesh::detail::checkpoint {

/// Elements of one rank, row-major and without halos: runs of bytes that are one in the file, too.
struct copied_block {
  index_t at = 0;   ///< the first byte in the file
  index_t run = 0;  ///< bytes
  std::vector<std::pair<index_t, index_t>>
      loops;  ///< count and stride in bytes, the outermost first
  std::vector<std::byte> bytes;

  /// Throws dimesh::error that names the file.
  void write(descriptor& to) const {
    const auto* const from = reinterpret_cast<const char*>(bytes.data());
    const index_t runs = bytes.empty() ? 0 : static_cast<index_t>(bytes.size()) / run;
    for (index_t i = 0; i < runs; ++i) {
      index_t rest = i, place = at;
      for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
        place += rest % l->first * l->second;
        rest /= l->first;
      }
      to.write(from + i * run, static_cast<std::size_t>(run), place);
    }
  }
};

/// The elements of x without what its halos hold.
inline std::vector<std::byte> own_bytes(const tensor_core& x) {
  std::vector<std::byte> all = bytes_on_host(x);
  if (own_elements(x) == x.elements()) return all;
  const index_t element = x.facts->element;
  std::vector<std::byte> packed(static_cast<std::size_t>(own_elements(x) * element));
  for_each_own_run(x, [&](index_t first, index_t n, index_t k) {
    std::copy_n(all.begin() + first * element, n * element, packed.begin() + k * element);
  });
  return packed;
}

/// What this rank writes of x into a file of the whole tensor that begins at byte `at`: nothing, if
/// another one does.
inline copied_block copy_of(const tensor_core& x, index_t at) {
  copied_block b;
  if (!writes(x)) return b;
  b.at = at;
  b.run = x.facts->element;
  index_t stride = x.facts->element;
  bool whole = true;  // all dims inside of this one
  for (int d = x.rank(); d-- > 0;) {
    const index_t own = x.own(d).length;
    b.at += x.own(d).offset * stride;
    if (whole)
      b.run *= own;
    else
      b.loops.emplace(b.loops.begin(), own, stride);
    whole = whole && own == x.extent(d);
    stride *= x.extent(d);
  }
  b.bytes = own_bytes(x);
  return b;
}

}  // namespace dimesh::detail::checkpoint
