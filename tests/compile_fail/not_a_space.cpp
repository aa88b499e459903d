// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mesh names something else where its memory is wanted.
// expect: grid: the mesh names a space that is none; say `using space = host_space`, or a memory space of Kokkos
// expect: not_a_space<Kokkos::Serial>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct near : dm::mesh<rows, cols> {
#ifdef COMPILE_FAIL
  using space = Kokkos::Serial;
#else
  using space = Kokkos::HostSpace;
#endif
};
auto f() { return sizeof(dm::grid<near>); }
