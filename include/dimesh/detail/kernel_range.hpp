// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Over which indices does a kernel of an execution space run?
//
//   Kokkos::parallel_for(kernel_range<Space>(0, n), kernel)
#pragma once

#include <Kokkos_Core.hpp>

#include "dimesh/detail/config.hpp"

namespace dimesh::detail {

/// A range of a kernel's indices. A device takes its function object as an argument, up to 4 KiB:
/// above 512 bytes Kokkos would hand it over in constant memory, of which every source file of a
/// program has its own, and a kernel that two files make may look in the other's.
template <class Space>
using kernel_range = Kokkos::RangePolicy<Space, Kokkos::IndexType<index_t>,
                                         Kokkos::Experimental::WorkItemProperty::HintLightWeight_t>;

}  // namespace dimesh::detail
