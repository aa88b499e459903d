// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Are replicas alike that only local operations take? These have nobody to ask. So checked builds
// keep a hash of each operand that the program wrote itself, when an operation first takes it; the
// ranks compare them with the next call that they make together along axes which replicate it.
//
//   keep_replicas(op, x);                                        // of a local operation
//   kept_blocks::shown() = {&kept_replicas(x[0].grid), axes};    // before one that sends something
#pragma once

#include <map>
#include <vector>

#include "dimesh/core/replicas.hpp"
#include "dimesh/detail/doing.hpp"
#include "dimesh/detail/written.hpp"

namespace dimesh::detail {

/// Those of a grid that have not been compared, of this thread.
inline std::vector<kept_replica>& kept_replicas(const grid_state* g) {
  static thread_local std::map<const grid_state*, std::vector<kept_replica>> all;
  return all[g];
}

/// Equal numbers have equal bits then: one NaN, one zero.
template <class T> void unify_numbers(std::vector<std::byte>& bytes) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T v;
    std::memcpy(&v, bytes.data() + at, sizeof v);
    v = std::isnan(v) ? std::numeric_limits<T>::quiet_NaN() : v == 0 ? T(0) : v;
    std::memcpy(bytes.data() + at, &v, sizeof v);
  }
}
/// The same of numbers of 16 bits, whose exponent is that of infinity under this mask.
inline void unify_halves(std::vector<std::byte>& bytes, std::uint16_t infinity) {
  for (std::size_t at = 0; at + 2 <= bytes.size(); at += 2) {
    std::uint16_t v = 0;
    std::memcpy(&v, bytes.data() + at, sizeof v);
    const std::uint16_t size = v & 0x7fff;
    v = size > infinity ? std::uint16_t{0x7fff} : size == 0 ? size : v;
    std::memcpy(bytes.data() + at, &v, sizeof v);
  }
}
/// A hash of a tensor's elements; 0 of kinds some of whose bits mean nothing.
inline std::uint64_t hash_of_elements(const tensor_core& x) {
  std::vector<std::byte> bytes = bytes_on_host(x);
  switch (x.facts->kind) {
    case element_kind::float32:
    case element_kind::complex64:
      unify_numbers<float>(bytes);
      break;
    case element_kind::float64:
    case element_kind::complex128:
      unify_numbers<double>(bytes);
      break;
    case element_kind::half:
      unify_halves(bytes, 0x7c00);
      break;
    case element_kind::bfloat16:
      unify_halves(bytes, 0x7f80);
      break;
    case element_kind::long_double:
    case element_kind::other:
      return 0;
    default:
      break;
  }
  return hash_of_block(bytes.data(), bytes.size());
}

/// "[length, depth]"
inline std::string dims_words(const tensor_core& x) {
  std::string dims;
  for (int d = 0; d < x.rank(); ++d)
    dims += (d > 0 ? ", " : "") + std::string(x.facts->dim[d]->name);
  return "[" + dims + "]";
}
/// "operand 2 of 'operator*', [length, depth]"
inline std::string operand_words(std::string_view call, int k, const tensor_core& x) {
  return "operand " + std::to_string(k + 1) + " of '" + std::string(call) + "', " + dims_words(x);
}

inline void keep_replicas(const operation& op, operands x) {
  for (int k = 0; k < x.count(); ++k) {
    if (x[k].is_shape || !x[k].memory || !written_blocks::here().take(x[k].memory.data())) continue;
    const unsigned axes = compares_replicas() ? replica_axes(x[k]) : 0;
    std::vector<kept_replica>& kept = kept_replicas(x[k].grid);
    if (axes == 0 || kept.size() > 1000) continue;
    std::string words = operand_words(op.facts->name, k, x[k]);
    const std::uint64_t which = hash_of(words.data(), words.size(), hash_of_operands(x));
    kept.push_back({axes, which, hash_of_elements(x[k]), std::move(words)});
  }
}

}  // namespace dimesh::detail
