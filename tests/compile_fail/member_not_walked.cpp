// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A struct of tensors has a member that is none, and not described.
// expect: for_each_tensor: a member is neither a tensor, a number, an array or tuple, nor a described struct; describe it by BOOST_HANA_DEFINE_STRUCT
// expect: member_not_walked<note>
// levels: 3
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
struct note {
  const char* text = "";
};
#else
enum class note { none, bias_first };
#endif
template <class L> struct linear {
  BOOST_HANA_DEFINE_STRUCT(linear, (dm::tensor<float, L, hidden, label>, weight), (note, about));
};
auto f(const dm::grid<pod>& g) { return dm::zeros<linear<hybrid>>(g); }
