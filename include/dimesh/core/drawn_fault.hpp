// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Can elements be what is drawn at random? Fractions are cut where elements are whole, and a
// complex number would have a real part alone.
//
//   drawn_fault<int, drawn::reals>                    -> fraction_cut<double, int>
//   drawn_fault<std::complex<float>, drawn::places>   -> element_is_complex<std::complex<float>>
#pragma once

#include <type_traits>

#include "dimesh/detail/types.hpp"
#include "dimesh/element/element_traits.hpp"
#include "dimesh/layout/fault.hpp"

namespace dimesh::detail {

/// 0 and 1, whole numbers from 0 on, or numbers with fractions.
enum class drawn { truths, places, reals };

template <class T, drawn Kind> constexpr auto find_drawn_fault() {
  if constexpr (Kind == drawn::reals && std::is_integral_v<T>)
    return tag<fraction_cut<double, T>>{};
  else if constexpr (Kind != drawn::truths && is_complex<T>)
    return tag<element_is_complex<T>>{};
  else if constexpr (Kind == drawn::reals && !std::is_floating_point_v<computed<T>>)
    return tag<elements_differ<double, T>>{};
  else if constexpr (!std::is_convertible_v<double, computed<T>>)
    return tag<elements_differ<double, T>>{};
  else
    return tag<no_fault>{};
}
/// What keeps elements T from being drawn.
template <class T, drawn Kind>
using drawn_fault = typename decltype(find_drawn_fault<T, Kind>())::type;

template <class Fault> constexpr void assert_drawn() {
  static_assert(ok<only<Fault, fraction_cut>>,
                "fill: the elements are whole numbers, and the numbers drawn have fractions; draw "
                "a tensor of float or double");
  static_assert(ok<only<Fault, element_is_complex>>,
                "fill: the elements are complex, and the numbers drawn real; draw both parts, and "
                "join them: as_complex(x, y)");
  static_assert(ok<only<Fault, elements_differ>>,
                "fill: the elements are no real numbers, which are what is drawn; draw a tensor of "
                "float or double, and map it");
}

}  // namespace dimesh::detail
