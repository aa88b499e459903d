// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// On which processor does a kernel run, and in how many pieces? On one thread it is a call; on a
// host's threads it runs in pieces, each on a part of the loops; on a device every element is a
// piece.
//
//   in_ranges<Space>(n, [&](index_t from, index_t to) { ... });   // all of [0, n)
//   in_host_ranges<Space>(n, ...)   the same of code that a device cannot run
#pragma once

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/kernel_range.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/memory/space.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>

namespace dimesh::local {

#ifdef DIMESH_TEST_SPACE  // tests name a space of theirs: tests/support/shuffled.hpp
using default_space = DIMESH_TEST_SPACE;
#else
using default_space = Kokkos::DefaultExecutionSpace;
#endif

using host_space = dimesh::detail::host_execution;

namespace detail {

template <class Space>
inline constexpr bool runs_on_host =
    Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;

/// Is a kernel a call, on one thread? (A Kokkos made for other host spaces has no Serial.)
template <class Space> inline constexpr bool runs_as_call = false;
#ifdef KOKKOS_ENABLE_SERIAL
template <> inline constexpr bool runs_as_call<Kokkos::Serial> = true;
#endif

/// Where code of the host runs that stands for a kernel of Space.
template <class Space>
using host_of = std::conditional_t<runs_on_host<Space>, Space, dimesh::local::host_space>;

/// Does a kernel of a device's space run on the host's threads, since this thread works on tensors
/// that lie where the device does not reach?
template <class Space> bool moves_to_host() {
  const dimesh::detail::space_facts* const now = dimesh::detail::space_now;
  return now != nullptr && now->on_host_threads;
}

/// Any work in pieces: one kernel type for all kernels on hosts, or the compiler would make Kokkos'
/// launch code anew for each. Threads that take pieces work on the tensors of who launched them:
/// their scratch is of that space.
struct work_in_pieces {
  void (*run)(const void* work, index_t p);
  const void* work;
  const dimesh::detail::space_facts* space = dimesh::detail::space_now;
  void operator()(index_t p) const {
    const dimesh::detail::in_space here(space);
    run(work, p);
  }
};

/// Does a space take kernels from one thread of the program alone? That is the one that started
/// Kokkos: the main one, as a rule.
template <class Space> inline constexpr bool serves_one_thread = false;
#ifdef KOKKOS_ENABLE_THREADS
template <> inline constexpr bool serves_one_thread<Kokkos::Threads> = true;
#endif
inline const std::thread::id main_thread = std::this_thread::get_id();

/// How a host space runs a kernel in pieces: so many at most, all of them before it returns, in any
/// order. Tests have a space that runs them last to first.
template <class Space> struct pieces {
  static index_t most() { return 4 * at_once(); }
  /// Threads; costs ask for them before Kokkos runs, too.
  static index_t at_once() {
    if (!Kokkos::is_initialized()) return 1;
    if constexpr (requires { Space::concurrency(instance()); })
      return Space::concurrency(instance());
    else
      return instance().concurrency();
  }
  [[gnu::noinline]] static void run(index_t count, const work_in_pieces& work) {
    if (serves_one_thread<Space> && std::this_thread::get_id() != main_thread) {
      for (index_t p = 0; p < count; ++p) work(p);
      return;
    }
    // (A size of chunks, or Kokkos would make one more handle to find one.)
    Kokkos::parallel_for(
        dimesh::detail::kernel_range<Space>(instance(), 0, count, Kokkos::ChunkSize(1)), work);
    fence();  // the work lives on the caller's stack
  }

 private:
  /// Newer Kokkos takes memory for each handle of a space, those in its default arguments too: one
  /// is kept for good.
  static const Space& instance() {
    static const Space& one = *new Space;
    return one;
  }
  /// Likewise for a name that is longer than this.
  static void fence() {
    if constexpr (requires { instance().fence("dimesh"); })
      instance().fence("dimesh");
    else
      instance().fence();
  }
};

/// piece(p) for p in [0, count), on the threads of a space.
template <class Space, class Piece> void launch(index_t count, const Piece& piece) {
  pieces<Space>::run(
      count, {[](const void* w, index_t p) { (*static_cast<const Piece*>(w))(p); }, &piece});
}

struct division {
  index_t whole, rest;
};
/// e / n and e % n, neither negative: devices divide numbers of 64 bits slowly.
KOKKOS_FORCEINLINE_FUNCTION division divided(index_t e, index_t n) {
  if ((e | n) >> 32 != 0) return {e / n, e % n};
  const auto a = static_cast<std::uint32_t>(e), b = static_cast<std::uint32_t>(n);
  return {a / b, a % b};
}

/// Each index as a range of its own.
template <class Work> struct one_by_one {
  Work work;
  KOKKOS_FUNCTION void operator()(index_t i) const { work(i, i + 1); }
};
/// A range index by index.
template <class Body> struct each_index {
  Body body;
  KOKKOS_FUNCTION void operator()(index_t from, index_t to) const {
    const dimesh::detail::writes_memory kernel;
    for (index_t i = from; i < to; ++i) body(i);
  }
};

/// body(i) for i in [0, n), each for itself: a kernel in the form for devices.
template <class Space, class Body> void each_for_itself(index_t n, const Body& body) {
  if (n > 0) Kokkos::parallel_for(dimesh::detail::kernel_range<Space>(0, n), body);
}

}  // namespace detail

/// work(from, to) for ranges that make up [0, n): all at once, in pieces on the threads of a host,
/// or one by one on a device.
template <class Space, class Work> void in_ranges(index_t n, const Work& work) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (detail::runs_as_call<Space>) {
    work(index_t{0}, n);
  } else if constexpr (detail::runs_on_host<Space>) {
    const index_t count = std::min(n, detail::pieces<Space>::most());
    detail::launch<Space>(count, [&](index_t p) { work(n * p / count, n * (p + 1) / count); });
  } else {
    if (detail::moves_to_host<Space>()) return in_ranges<host_space>(n, work);
    Kokkos::parallel_for(dimesh::detail::kernel_range<Space>(0, n), detail::one_by_one<Work>{work});
  }
}

/// The same of code of the host, whatever Space is.
template <class Space, class Work> void in_host_ranges(index_t n, const Work& work) {
  in_ranges<detail::host_of<Space>>(n, work);
}

/// body(i) for i in [0, n), on the threads of a host, or each for itself on a device.
template <class Space, class Body> void for_each_index(index_t n, const Body& body) {
  in_ranges<Space>(n, detail::each_index<Body>{body});
}

}  // namespace dimesh::local
