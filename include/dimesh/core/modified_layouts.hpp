// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands around a layout where a struct of tensors describes something else than its values?
//
//   network<tracked<L>>   network<gradient<L>>   tensor<float, shaped<L>, batch>
#pragma once

#include "dimesh/core/conversion.hpp"
#include "dimesh/mesh.hpp"

namespace dimesh {

/// Modifiers of a layout: in their place, one struct of tensors also describes recorded variables,
/// cotangents, or shapes without data.
template <class L> struct tracked {
  using mesh = typename L::mesh;
};
template <class L> struct gradient {
  using mesh = typename L::mesh;
};
template <class L> struct shaped {
  using mesh = typename L::mesh;
};

/// A layout is shaped, and not a tensor; what operations take for poison.
template <Tensor X> struct shaped<X> : poison {
  using mesh = dimesh::mesh<>;
  static_assert(ok<not_a_layout<X>>,
                "shaped: it stands around the layout, inside of the tensor: tensor<float, "
                "shaped<L>, batch>");
};
template <Tensor X> inline constexpr bool is_poison<shaped<X>> = true;

}  // namespace dimesh
