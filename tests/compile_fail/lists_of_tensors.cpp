// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in lists.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>

#include "names.hpp"

struct length : dm::dim<> {};
struct two : dm::dim<2> {};
using text = dm::tensor<float, by_batch, batch, length>;

// mistake: lists_of_tensors__concat
// expect: concat: tensors stand one by one in the parentheses, not in a list: concat<token>(x, y)
// expect: wrong_arguments<dimesh::detail::nothing<length>
#ifdef COMPILE_FAIL
auto f(const text& x) { return dm::concat<length>({x, x}); }
#else
auto f(const text& x) { return dm::concat<length>(x, x); }
#endif

// mistake: lists_of_tensors__concat_of_vector
// expect: concat: tensors stand one by one in the parentheses, not in a list: concat<token>(x, y)
// expect: not_a_tensor<dimesh::detail::nothing<
#ifdef COMPILE_FAIL
auto f(const text& x) { return dm::concat<length>(std::vector{x, x}); }
#else
auto f(const text& x) { return dm::concat<length>(x, x); }
#endif

// mistake: lists_of_tensors__stack
// expect: stack: tensors stand one by one in the parentheses, not in a list: stack<layer>(x, y)
// expect: wrong_arguments<dimesh::detail::nothing<two>
#ifdef COMPILE_FAIL
auto f(const text& x) { return dm::stack<two>({x, x}); }
#else
auto f(const text& x) { return dm::stack<two>(x, x); }
#endif

// mistake: lists_of_tensors__stack_of_vector
// expect: stack: tensors stand one by one in the parentheses, not in a list: stack<layer>(x, y)
// expect: not_a_tensor<dimesh::detail::nothing<
#ifdef COMPILE_FAIL
auto f(const text& x) { return dm::stack<two>(std::vector{x, x}); }
#else
auto f(const text& x) { return dm::stack<two>(x, x); }
#endif
