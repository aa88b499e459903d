// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do raw elements travel? As MPI's type for their kind where there is one; other trivially
// copyable types move as bytes and are never reduced. Also what every collective does before its
// MPI call.
//
//   wire_of<float>.type()          -> MPI_FLOAT, one a float
//   wire_of<some_struct>.type()    -> MPI_BYTE, wire_of<some_struct>.units() of them
//   wire{element_kind::int32, 4}   the same where the type has been lost
#pragma once

#include <Kokkos_Core.hpp>
#include <climits>
#include <type_traits>
#include <vector>

#include "dimesh/collective/communicator.hpp"
#include "dimesh/collective/reduction.hpp"
#include "dimesh/collective/stages.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/element/element_traits.hpp"
#include "dimesh/ledger/event.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::collective {

/// MPI's type for a kind of elements.
MPI_Datatype native_type(element_kind kind);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline MPI_Datatype native_type(element_kind kind) {
  switch (kind) {
    case element_kind::boolean:
      return MPI_C_BOOL;
    case element_kind::int8:
      return MPI_INT8_T;
    case element_kind::int16:
      return MPI_INT16_T;
    case element_kind::int32:
      return MPI_INT32_T;
    case element_kind::int64:
      return MPI_INT64_T;
    case element_kind::uint8:
      return MPI_UINT8_T;
    case element_kind::uint16:
    case element_kind::half:
    case element_kind::bfloat16:
      return MPI_UINT16_T;
    case element_kind::uint32:
      return MPI_UINT32_T;
    case element_kind::uint64:
      return MPI_UINT64_T;
    case element_kind::float32:
      return MPI_FLOAT;
    case element_kind::float64:
      return MPI_DOUBLE;
    case element_kind::long_double:
      return MPI_LONG_DOUBLE;
    case element_kind::complex64:
      return MPI_C_FLOAT_COMPLEX;
    case element_kind::complex128:
      return MPI_C_DOUBLE_COMPLEX;
    case element_kind::other:
      break;
  }
  return MPI_BYTE;
}
#endif

/// Is MPI's operation for a reduction of a kind our own (reduction.hpp)?
constexpr bool is_own_operation(element_kind kind, reduction r) {
  switch (kind) {
    case element_kind::half:
    case element_kind::bfloat16:
      return true;
    case element_kind::float32:
    case element_kind::float64:
    case element_kind::long_double:
      return r == reduction::max || r == reduction::min;
    default:
      return false;
  }
}
/// MPI's operation for a reduction of a kind. On bool, sums and maxima are `or`, minima and
/// products `and`.
MPI_Op operation(element_kind kind, reduction r);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline MPI_Op operation(element_kind kind, reduction r) {
  if (is_own_operation(kind, r)) [[unlikely]]
    return own_operation(kind, r);
  const bool grows = r == reduction::sum || r == reduction::max;
  if (kind == element_kind::boolean) return grows ? MPI_LOR : MPI_LAND;
  if (r == reduction::sum) return MPI_SUM;
  if (r == reduction::product) return MPI_PROD;
  return r == reduction::max ? MPI_MAX : MPI_MIN;
}
#endif

/// How elements are described to MPI: their kind, and the bytes of one.
struct wire {
  element_kind kind = element_kind::other;
  index_t size = 0;

  MPI_Datatype type() const { return native_type(kind); }
  /// Of type() that make one element.
  constexpr int units() const { return kind == element_kind::other ? static_cast<int>(size) : 1; }
  /// The most elements that one MPI call can count.
  constexpr index_t most_per_call() const {
    return kind == element_kind::other ? INT_MAX / size : INT_MAX;
  }
  constexpr bool operator==(const wire&) const = default;
};

template <class T>
inline constexpr wire wire_of{element_traits<T>::kind, static_cast<index_t>(sizeof(T))};

/// The same of a type that is known.
template <class T> struct element {
  static_assert(std::is_trivially_copyable_v<T>,
                "collective: elements must be trivially copyable; send something else");
  static constexpr bool reducible = element_traits<T>::is_known;
  static constexpr int units = wire_of<T>.units();
  static MPI_Datatype type() { return wire_of<T>.type(); }
};

template <class T> MPI_Op operation(reduction r) {
  static_assert(element<T>::reducible,
                "collective: MPI cannot reduce this element type; cast first");
  return operation(element_traits<T>::kind, r);
}

/// The most elements that one MPI call can count.
template <class T> inline constexpr index_t most_per_call = wire_of<T>.most_per_call();

/// Before a call: kernels that still write to the buffers end, and checked builds compare ranks.
/// Nothing at all on a serial host in a plain build.
inline void prepare(const dimesh::detail::communicator& c, const char* call, index_t count,
                    const wire& w) {
  if constexpr (!dimesh::detail::hosts_only) Kokkos::fence();
  c.agree(call, count, static_cast<unsigned>(w.kind) << 16 | static_cast<unsigned>(w.size));
}

/// Reports the collective from here to the end of the scope, if anybody watches. Payload: what this
/// rank hands to MPI; whole: what is reduced, scattered or gathered.
struct told : dimesh::detail::watched {
  told(event_kind kind, const dimesh::detail::communicator& c, index_t payload, index_t whole)
      : watched(kind, c.axes(), payload,
                // Divisions, for those who listen.
                dimesh::detail::watcher != nullptr ? ring_bytes(kind, whole, c.size()) : 0,
                c.mesh()) {}
  told(event_kind kind, const dimesh::detail::communicator& c, index_t payload)
      : told(kind, c, payload, payload) {}
  [[no_unique_address]] opened_to_mpi memory{};
};

/// Counts and offsets in MPI's units, as its calls on blocks of different lengths want them. MPI
/// reads them until a call that was started is over: they lie in a plan.
struct call_counts {
  const int *send_count = nullptr, *send_at = nullptr;
  const int *receive_count = nullptr, *receive_at = nullptr;
};

/// Consecutive elements of a buffer.
struct run {
  index_t at = 0, count = 0;
};
/// Of runs for each of so many ranks.
template <class T> index_t bytes_in(const run* runs, int ranks) {
  index_t n = 0;
  for (int r = 0; r < ranks; ++r) n += runs[r].count;
  return n * wire_of<T>.size;
}

/// Bytes of a buffer whose type is about to be lost.
template <class T> const std::byte* bytes_of(const T* x) {
  return reinterpret_cast<const std::byte*>(x);
}
template <class T> std::byte* bytes_of(T* x) { return reinterpret_cast<std::byte*>(x); }

/// y[0..n) = x[0..n); the same address is left alone.
template <class T> void copy(const T* x, T* y, index_t n) {
  if (x != y) dimesh::detail::copy_bytes(y, x, n * static_cast<index_t>(sizeof(T)));
}

namespace detail {

/// Counts and offsets as MPI wants them, in arrays that are kept from call to call.
struct int_arrays {
  std::vector<int> send_count, send_at, receive_count, receive_at;
  static int_arrays& instance(int ranks) {
    thread_local int_arrays arrays;
    arrays.fit(ranks);
    return arrays;
  }
  void fit(int ranks) {
    const auto n = static_cast<std::size_t>(ranks);
    for (auto* v : {&send_count, &send_at, &receive_count, &receive_at})
      if (v->size() < n) v->resize(n);
  }
};

/// Fills MPI's counts and offsets, which fit an int, of elements of so many units.
inline void to_int(int units, const run* runs, int ranks, std::vector<int>& counts,
                   std::vector<int>& at) {
  for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) {
    counts[r] = static_cast<int>(runs[r].count * units);
    at[r] = static_cast<int>(runs[r].at * units);
  }
}

/// The same for blocks one after another.
void to_int(int units, const index_t* count, int ranks, std::vector<int>& counts,
            std::vector<int>& at);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void to_int(int units, const index_t* count, int ranks,
                                  std::vector<int>& counts, std::vector<int>& at) {
  int sum = 0;
  for (int r = 0; r < ranks; ++r) {
    const auto n = static_cast<int>(count[r] * units);
    counts[static_cast<std::size_t>(r)] = n;
    at[static_cast<std::size_t>(r)] = sum;
    sum += n;
  }
}
#endif

}  // namespace detail
}  // namespace dimesh::collective
