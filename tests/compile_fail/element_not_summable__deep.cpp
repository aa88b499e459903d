// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits two templates deep, in one of the members of a struct.
// expect: complete: ranks cannot add up elements of this type; cast the tensor first
// expect: element_not_summable<bool>
// levels: 2
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

#ifdef COMPILE_FAIL
using number = bool;
#else
using number = int;
#endif
template <class L> struct results {
  BOOST_HANA_DEFINE_STRUCT(results, (dm::tensor<float, L>, loss),
                           (dm::tensor<number, L, label>, right));
};
using sums = results<dm::gradient<whole>>;
struct evaluation {
  template <class R> auto together(const R& r) const { return dm::complete(r); }
  template <class R> auto operator()(const R& r) const { return dm::value(together(r).loss); }
};
float f(const sums& r) { return evaluation{}(r); }
