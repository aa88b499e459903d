// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do raw elements travel? As the MPI type of T where there is one; other trivially copyable
// types move as bytes and are never reduced. Also what every collective does before its MPI call.
//
//   element<float>::type()          -> MPI_FLOAT, one a float
//   element<some_struct>::type()    -> MPI_BYTE, element<some_struct>::units of them
#pragma once

#include <Kokkos_Core.hpp>
#include <climits>
#include <complex>
#include <type_traits>
#include <vector>

#include "dimesh/collective/reduction.hpp"
#include "dimesh/detail/communicator.hpp"
#include "dimesh/detail/memory.hpp"

namespace dimesh::collective {

namespace detail {

/// MPI's type for T, MPI_DATATYPE_NULL where it has none.
template <class T> MPI_Datatype native_type() {
  if constexpr (std::is_same_v<T, bool>)
    return MPI_C_BOOL;
  else if constexpr (std::is_same_v<T, float>)
    return MPI_FLOAT;
  else if constexpr (std::is_same_v<T, double>)
    return MPI_DOUBLE;
  else if constexpr (std::is_same_v<T, long double>)
    return MPI_LONG_DOUBLE;
  else if constexpr (std::is_same_v<T, std::complex<float>> ||
                     std::is_same_v<T, Kokkos::complex<float>>)
    return MPI_C_FLOAT_COMPLEX;
  else if constexpr (std::is_same_v<T, std::complex<double>> ||
                     std::is_same_v<T, Kokkos::complex<double>>)
    return MPI_C_DOUBLE_COMPLEX;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return MPI_UINT16_T;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return sizeof(T) == 1   ? MPI_INT8_T
           : sizeof(T) == 2 ? MPI_INT16_T
           : sizeof(T) == 4 ? MPI_INT32_T
                            : MPI_INT64_T;
  else if constexpr (std::is_integral_v<T>)
    return sizeof(T) == 1   ? MPI_UINT8_T
           : sizeof(T) == 2 ? MPI_UINT16_T
           : sizeof(T) == 4 ? MPI_UINT32_T
                            : MPI_UINT64_T;
  else
    return MPI_DATATYPE_NULL;
}
template <class T>
inline constexpr bool has_native_type =
    std::is_arithmetic_v<T> || std::is_same_v<T, bfloat16> ||
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>> ||
    std::is_same_v<T, Kokkos::complex<float>> || std::is_same_v<T, Kokkos::complex<double>>;

}  // namespace detail

/// Calls f with a zero of the real type whose elements have so many bytes: what was laid side by
/// side for sending has lost its type.
template <class F> void with_real(index_t bytes, const F& f) {
  if (bytes == sizeof(bfloat16))
    f(bfloat16{});
  else if (bytes == sizeof(float))
    f(0.0f);
  else
    f(0.0);
}

/// How one T is described to MPI.
template <class T> struct element {
  static_assert(std::is_trivially_copyable_v<T>,
                "collective: elements must be trivially copyable; send something else");
  static constexpr bool reducible = detail::has_native_type<T>;
  static constexpr int units = reducible ? 1 : static_cast<int>(sizeof(T));
  static MPI_Datatype type() {
    if constexpr (reducible)
      return detail::native_type<T>();
    else
      return MPI_BYTE;
  }
};

/// MPI's operation for a reduction of T, or our own for bfloat16. On bool, sums and maxima are
/// `or`, minima `and`.
template <class T> MPI_Op operation(reduction r) {
  static_assert(element<T>::reducible,
                "collective: MPI cannot reduce this element type; cast first");
  if constexpr (std::is_same_v<T, bool>)
    return r == reduction::min ? MPI_LAND : MPI_LOR;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return bfloat16_operation(r);
  else
    return r == reduction::sum ? MPI_SUM : r == reduction::max ? MPI_MAX : MPI_MIN;
}

/// The most elements that one MPI call can count.
template <class T> inline constexpr index_t most_per_call = INT_MAX / element<T>::units;

/// Before a call: kernels that still write to the buffers end, and checked builds compare ranks.
/// Nothing at all on a serial host in a plain build.
inline void prepare(const dimesh::detail::communicator& c, const char* call, index_t count) {
  if constexpr (!std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::DefaultHostExecutionSpace>)
    Kokkos::fence();
  c.agree(call, count);
}

/// Consecutive elements of a buffer.
struct run {
  index_t at = 0, count = 0;
};

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
    const auto n = static_cast<std::size_t>(ranks);
    for (auto* v : {&arrays.send_count, &arrays.send_at, &arrays.receive_count, &arrays.receive_at})
      if (v->size() < n) v->resize(n);
    return arrays;
  }
};

/// Fills MPI's counts and offsets, which fit an int.
template <class T>
void to_int(const run* runs, int ranks, std::vector<int>& counts, std::vector<int>& at) {
  for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) {
    counts[r] = static_cast<int>(runs[r].count * element<T>::units);
    at[r] = static_cast<int>(runs[r].at * element<T>::units);
  }
}

/// The same for blocks one after another.
template <class T>
void to_int(const index_t* count, int ranks, std::vector<int>& counts, std::vector<int>& at) {
  int sum = 0;
  for (int r = 0; r < ranks; ++r) {
    const auto n = static_cast<int>(count[r] * element<T>::units);
    counts[static_cast<std::size_t>(r)] = n;
    at[static_cast<std::size_t>(r)] = sum;
    sum += n;
  }
}

}  // namespace detail
}  // namespace dimesh::collective
