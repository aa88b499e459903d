// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When do halos travel: before what needs them is computed, or beside what does not?
//
//   stencil_exchange(f, beside_interior(boundary::zero), u)
//   convolution_exchange<high, out>(beside_interior, x, w, window<height, tall, high>{})
#pragma once

namespace dimesh {

/// What lies beyond the ends of a dim: zeros, or its other end.
enum class boundary : unsigned char { zero, periodic };

/// What lies beyond the ends of dims, and when halos travel: after the result has been computed, or
/// beside its interior. The values are the same (on several threads to rounding). What pays depends
/// on the MPI library and on the blocks: edges that are columns are computed point by point, and
/// those of long rows once more with the interior (benchmarks/stencil.cpp).
struct halo_way {
  boundary ends = boundary::zero;
  bool beside_interior = false;
  constexpr halo_way(boundary e, bool beside = false)  // NOLINT: a boundary says it mostly
      : ends(e), beside_interior(beside) {}
};

/// The type of beside_interior.
struct beside_interior_way {
  constexpr halo_way operator()(boundary ends) const { return {ends, true}; }
};
/// Halos travel while the interior is computed: of a stencil, with what lies beyond the ends of
/// dims (`beside_interior(boundary::zero)`); of windows, as it is.
inline constexpr beside_interior_way beside_interior{};

}  // namespace dimesh
