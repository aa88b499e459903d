// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands around a layout where a struct of tensors describes something else than its values?
//
//   network<tracked<L>>   network<gradient<L>>   tensor<float, shaped<L>, batch>
#pragma once

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

}  // namespace dimesh
