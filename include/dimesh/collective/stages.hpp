// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// May MPI be handed the memory in which tensors lie? That of the host, yes; that of a device where
// MPI says that it knows devices. DIMESH_STAGING=always and =never, in the environment, overrule
// what it says.
//
//   if (stages()) ...               // go by way of the host
//   const opened_to_mpi memory;     // closed pages are open to the end of the scope, else
#pragma once

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <atomic>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/words.hpp"
#include "dimesh/memory/space.hpp"

namespace dimesh::collective {

/// Does MPI say that it reads the memory of devices?
[[gnu::noinline]] inline bool ask_mpi_of_devices() {
#if defined(KOKKOS_ENABLE_HIP) && defined(MPIX_ROCM_AWARE_SUPPORT)
  return MPIX_Query_rocm_support() == 1;
#elif defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA) && defined(KOKKOS_ENABLE_HIP)
  int knows = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_HIP, &knows) == MPI_SUCCESS && knows != 0;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  int knows = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &knows) == MPI_SUCCESS && knows != 0;
#else
  return false;
#endif
}

inline bool mpi_knows_devices() {
  static const bool knows = ask_mpi_of_devices();
  return knows;
}

/// What a run does whatever MPI says.
enum class staging : unsigned char { as_mpi_says, always, never };
/// It is asked before each call of MPI, and known from the first time on.
inline constinit std::atomic<signed char> staging_known{-1};
[[gnu::noinline]] inline staging find_staging() {
  const char* const said = std::getenv("DIMESH_STAGING");
  const std::string_view what = said != nullptr ? said : "";
  staging found = staging::as_mpi_says;
  if (what == "always")
    found = staging::always;
  else if (what == "never")
    found = staging::never;
  else if (!what.empty() && what != "auto")
    (dimesh::detail::words() << "runtime: DIMESH_STAGING is '" << what
                             << "'; say always, never or auto")
        .raise();
  staging_known.store(static_cast<signed char>(found), std::memory_order_relaxed);
  return found;
}
inline staging staging_wanted() {
  const signed char known = staging_known.load(std::memory_order_relaxed);
  return known >= 0 ? static_cast<staging>(known) : find_staging();
}

/// May host code follow pointers to what this thread works on?
inline bool is_host_memory() {
  const dimesh::detail::space_facts* const now = dimesh::detail::space_now;
  return now == nullptr ? dimesh::detail::on_host : now->is_reached;
}
/// Do messages of what this thread works on go by way of host memory?
inline bool stages() {
  const staging wanted = staging_wanted();
  if (wanted != staging::as_mpi_says) return wanted == staging::always;
  return !is_host_memory() && !mpi_knows_devices();
}
/// Do its sums? A function of ours (by_us) follows pointers on the host. Those that are only begun
/// (later) Open MPI forms there, too, though it says that it reads devices' memory.
inline bool stages_sums(bool later, bool by_us) {
  if (stages()) return true;
  if (is_host_memory()) return false;
  return by_us || (later && staging_wanted() != staging::never);
}

#ifdef DIMESH_CLOSED
/// Where MPI gets copies, nobody opens tensors' pages to it.
struct [[nodiscard]] opened_to_mpi {
  std::optional<dimesh::detail::opened> pages =
      stages() ? std::nullopt : std::optional<dimesh::detail::opened>(std::in_place);
};
#else
using opened_to_mpi = dimesh::detail::opened;
#endif

}  // namespace dimesh::collective
