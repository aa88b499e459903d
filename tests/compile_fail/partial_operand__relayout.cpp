// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maxima of parts cannot change their place.
// expect: relayout: the tensor holds maxima or minima of parts along this axis; complete it first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using maxima = dm::tensor<float, dm::layout<pod, dm::partial_max<cols>>, batch>;
#ifdef COMPILE_FAIL
auto f(const maxima& x) { return dm::relayout<by_batch>(x); }
#else
auto f(const maxima& x) { return dm::relayout<by_batch>(dm::complete(x)); }
#endif
