// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where can the ways of memory that no host reaches be tried without a device? In a space of Kokkos
// that says so of itself, and is the host's.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstring>

#if KOKKOS_VERSION < 40300
namespace test_support {
struct called_far {
  static constexpr const char* get_name() { return "far"; }
};
using far_memory = Kokkos::Experimental::LogicalMemorySpace<
    Kokkos::HostSpace, Kokkos::DefaultHostExecutionSpace, called_far,
    Kokkos::Experimental::LogicalSpaceSharesAccess::no_shared_access>;
}  // namespace test_support
#else  // which has no logical spaces any more
#include <cstdlib>

namespace test_support {
struct far_memory {
  using memory_space = far_memory;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using size_type = std::size_t;
  static constexpr const char* name() { return "far"; }
};
}  // namespace test_support

namespace Kokkos::Impl {
template <> struct MemorySpaceAccess<HostSpace, test_support::far_memory> {
  enum : bool { assignable = false, accessible = false, deepcopy = true };
};
template <> struct MemorySpaceAccess<test_support::far_memory, HostSpace> {
  enum : bool { assignable = false, accessible = false, deepcopy = true };
};
}  // namespace Kokkos::Impl
namespace Kokkos {
template <>
inline void* kokkos_malloc<test_support::far_memory>(const std::string&, const size_t n) {
  return std::malloc(n);
}
template <> inline void kokkos_free<test_support::far_memory>(void* p) { std::free(p); }
}  // namespace Kokkos
#endif

// Kokkos 3.4 has copies of these spaces from what is not const alone, and newer ones have none.
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
