// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where can the ways of memory that no host reaches be tried without a device? In a space of Kokkos
// that says so of itself, and is the host's.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstring>

namespace test_support {
struct called_far {
  static constexpr const char* get_name() { return "far"; }
};
using far_memory = Kokkos::Experimental::LogicalMemorySpace<
    Kokkos::HostSpace, Kokkos::DefaultHostExecutionSpace, called_far,
    Kokkos::Experimental::LogicalSpaceSharesAccess::no_shared_access>;
}  // namespace test_support

#if KOKKOS_VERSION < 40000
// Kokkos 3.4 has copies of these spaces from what is not const alone.
namespace Kokkos::Impl {
struct far_copy {
  far_copy(void* to, const void* from, std::size_t n) { std::memcpy(to, from, n); }
  template <class Space> far_copy(const Space&, void* to, const void* from, std::size_t n) {
    std::memcpy(to, from, n);
  }
};
template <class Run>
struct DeepCopy<test_support::far_memory, test_support::far_memory, Run> : far_copy {
  using far_copy::far_copy;
};
template <class Run> struct DeepCopy<test_support::far_memory, HostSpace, Run> : far_copy {
  using far_copy::far_copy;
};
template <class Run> struct DeepCopy<HostSpace, test_support::far_memory, Run> : far_copy {
  using far_copy::far_copy;
};
}  // namespace Kokkos::Impl
#endif
