// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which memory do the tensors of a mesh lie? In that of Kokkos' default execution space, where
// the mesh says nothing; else in the space that it names. Below the types a space is a pointer to
// what the library must know of it, null for the default one.
//
//   struct near : mesh<rows, cols> { using space = host_space; };
//   space_of<near>             -> &facts_of_memory<Kokkos::HostSpace>;    space_of<pod> -> nullptr
//   memory_of<near>            -> Kokkos::HostSpace
//   const in_space here(s);    // to the end of the scope: scratch memory, kernels and copies
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/kernel_range.hpp"
#include "dimesh/detail/name.hpp"
#include "dimesh/memory/closed.hpp"
#include "dimesh/mesh.hpp"

namespace dimesh::detail {

class pool;

/// Where tensors live whose mesh does not say it.
using memory_space = Kokkos::DefaultExecutionSpace::memory_space;
/// Kernels that need not run on a device run here.
using host_execution = Kokkos::DefaultHostExecutionSpace;
/// Is every kernel's processor the host's?
inline constexpr bool hosts_only = std::is_same_v<Kokkos::DefaultExecutionSpace, host_execution>;
/// May kernels and host code follow pointers to memory of these spaces?
template <class Space>
inline constexpr bool host_reaches =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible;
template <class Space>
inline constexpr bool kernels_reach =
    Kokkos::SpaceAccessibility<Kokkos::DefaultExecutionSpace, Space>::accessible;
inline constexpr bool on_host = host_reaches<memory_space>;

/// The space of Kokkos that a mesh's space stands for.
template <class Space> struct memory_of_space {
  using type = Space;
};
template <> struct memory_of_space<dimesh::host_space> {
  using type = Kokkos::HostSpace;
};
template <class M> struct memory_of_mesh {
  using type = memory_space;
};
template <class S>
inline constexpr bool is_space = Kokkos::is_memory_space<typename memory_of_space<S>::type>::value;
template <class M>
  requires is_space<typename M::space>
struct memory_of_mesh<M> : memory_of_space<typename M::space> {};
/// What a mesh names as its space, and is none.
template <class M> struct named_space_fault {
  using type = no_fault;
};
template <class M>
  requires(!is_space<typename M::space>)
struct named_space_fault<M> {
  using type = not_a_space<typename M::space>;
};
template <class M> using memory_of = typename memory_of_mesh<M>::type;

/// Host memory that a device's copies are fastest from.
#if defined(KOKKOS_ENABLE_CUDA)
using pinned_space = Kokkos::CudaHostPinnedSpace;
#elif defined(KOKKOS_ENABLE_HIP)
using pinned_space = Kokkos::Experimental::HIPHostPinnedSpace;
#else
using pinned_space = Kokkos::HostSpace;
#endif

/// What the library knows of a space.
struct space_facts {
  std::string_view name;
  std::uint64_t memory;  // equal where two spaces are one memory
  bool is_near;  // the host may read it whenever it likes
  bool is_reached;  // host code may follow its pointers, where pages are open
  bool on_host_threads;  // its kernels run there, and not where the default space's do
  pool& (*buffers)();
  void* (*take)(std::size_t);
  void (*give_back)(void*);
  void (*set)(void* to, unsigned char byte, std::size_t);
  void (*copy)(void* to, const void* from, std::size_t);
  void (*copy_in)(void* to, const void* of_host, std::size_t);
  void (*copy_out)(void* to_host, const void* from, std::size_t);
  void (*begin_copy_in)(void* to, const void* of_pinned, std::size_t);  // after kernels before it
  void (*wait_for_copies)();
};

#ifdef DIMESH_CLOSED
inline constexpr bool stands_for_device = true;
#else
inline constexpr bool stands_for_device = false;
#endif

/// One value in many places. (Not by Kokkos' fill: with CUDA 13 its kernels were seen to write
/// elsewhere.)
template <class T> struct store_each {
  T* to;
  T value;
  KOKKOS_FUNCTION void operator()(index_t i) const { to[i] = value; }
};

/// How bytes get into a space and out of it.
template <class Memory> struct space_moves {
  template <class S, class B>
  using bytes = Kokkos::View<B*, S, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  template <class To, class From> static void move(void* to, const void* from, std::size_t n) {
    Kokkos::deep_copy(bytes<To, char>(static_cast<char*>(to), n),
                      bytes<From, const char>(static_cast<const char*>(from), n));
  }
  static void* take(std::size_t n) { return Kokkos::kokkos_malloc<Memory>("dimesh", n); }
  static void give_back(void* p) { Kokkos::kokkos_free<Memory>(p); }
  /// The host's turn, when kernels of a device have ended that were given this memory.
  static void settle() {
    if constexpr (!hosts_only && kernels_reach<Memory>) Kokkos::fence();
  }
  static void set(void* to, unsigned char byte, std::size_t n) {
    const opened memory;
    auto* const at = static_cast<unsigned char*>(to);
    if constexpr (host_reaches<Memory>)
      settle(), std::memset(to, byte, n);
    else if (byte == 0)  // the device's own memset
      Kokkos::deep_copy(bytes<Memory, unsigned char>(at, n), byte);
    else
      Kokkos::parallel_for(kernel_range<Kokkos::DefaultExecutionSpace>(0, static_cast<index_t>(n)),
                           store_each<unsigned char>{at, byte});
  }
  static void copy(void* to, const void* from, std::size_t n) {
    const opened memory;
    if constexpr (host_reaches<Memory>)
      settle(), std::memcpy(to, from, n);
    else
      move<Memory, Memory>(to, from, n);
  }
  static void copy_in(void* to, const void* from, std::size_t n) {
    if constexpr (host_reaches<Memory>)
      copy(to, from, n);
    else
      move<Memory, Kokkos::HostSpace>(to, from, n);
  }
  static void begin_copy_in(void* to, const void* from, std::size_t n) {
    if constexpr (host_reaches<Memory>)
      copy(to, from, n);
    else
      Kokkos::deep_copy(typename Memory::execution_space(),
                        bytes<Memory, char>(static_cast<char*>(to), n),
                        bytes<pinned_space, const char>(static_cast<const char*>(from), n));
  }
  static void wait_for_copies() {
    if constexpr (!host_reaches<Memory>) typename Memory::execution_space().fence();
  }
  static void copy_out(void* to, const void* from, std::size_t n) {
    if constexpr (host_reaches<Memory>)
      copy(to, from, n);
    else
      move<Kokkos::HostSpace, Memory>(to, from, n);
  }
};

template <class Memory> pool& pool_of_memory();

/// Closed pages stand for a device's memory, which is not that of the host.
template <class Memory> constexpr space_facts make_space_facts(bool stands_apart) {
  using moves = space_moves<Memory>;
  const bool apart = stands_for_device && stands_apart;
  return {name_of<Memory>(),
          number_of<Memory>() + (apart ? 1 : 0),
          host_reaches<Memory> && !apart,
          host_reaches<Memory>,
          !kernels_reach<Memory>,
          &pool_of_memory<Memory>,
          &moves::take,
          &moves::give_back,
          &moves::set,
          &moves::copy,
          &moves::copy_in,
          &moves::copy_out,
          &moves::begin_copy_in,
          &moves::wait_for_copies};
}
template <class Memory>
inline constexpr space_facts facts_of_memory =
    make_space_facts<Memory>(!std::is_same_v<Memory, Kokkos::HostSpace>);
inline constexpr space_facts default_space_facts = make_space_facts<memory_space>(true);

constexpr const space_facts& facts_of_space(const space_facts* s) {
  return s != nullptr ? *s : default_space_facts;
}

/// Do kernels on tensors that lie there run on the host's threads?
constexpr bool runs_on_host_threads(const space_facts* s) {
  return hosts_only || facts_of_space(s).on_host_threads;
}

/// The space of a mesh; null for the default one, whatever it is called.
template <class M> inline constexpr const space_facts* space_of = nullptr;
template <class M>
  requires(is_space<typename M::space> &&
           facts_of_memory<memory_of<M>>.memory != default_space_facts.memory)
inline constexpr const space_facts* space_of<M> = &facts_of_memory<memory_of<M>>;

/// Where tensors live that this thread works on: who runs an operation says so.
inline constinit thread_local const space_facts* space_now = nullptr;

class [[nodiscard]] in_space {
 public:
  constexpr explicit in_space(const space_facts* s) {
    if (std::is_constant_evaluated()) return;
    before_ = space_now;
    space_now = s;
  }
  in_space(const in_space&) = delete;
  in_space& operator=(const in_space&) = delete;
  constexpr ~in_space() {
    if (!std::is_constant_evaluated()) space_now = before_;
  }

 private:
  const space_facts* before_ = nullptr;
};

/// Collectives take the host's own numbers, which are in no tensor, to the end of the scope: on a
/// device they would be staged as if they were the device's.
class [[nodiscard]] of_host {
  in_space here_{&facts_of_memory<Kokkos::HostSpace>};
};

}  // namespace dimesh::detail
