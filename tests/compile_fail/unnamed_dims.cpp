// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dims that are counted in the parentheses, or left out. The twins are functions of the user's own
// that have the operations' names: they are called.
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
extern const matrix x;
struct not_ours {
  template <class A> not_ours(const A&) {}
};

// mistake: unnamed_dims__slice
// expect: slice: a dim stands in the angle brackets, a tensor and from where to where in the parentheses: slice<token>(x, 0, 4)
// expect: not_a_dim<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::slice(x, 0, 4); }
#else
float slice(const matrix&, long, long);
float f() { return slice(x, 0, 4); }
#endif

// mistake: unnamed_dims__pad
// expect: pad: a dim stands in the angle brackets, a tensor and how many elements in the parentheses: pad<token>(x, 1, 1)
// expect: not_a_dim<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::pad(x, 1, 1); }
#else
float pad(not_ours, not_ours, not_ours);
float f() { return pad(x, 1, 1); }
#endif

// mistake: unnamed_dims__pick
// expect: pick: a dim stands in the angle brackets, a tensor and the place in the parentheses: pick<token>(x, 3)
// expect: not_a_dim<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::pick(x, 3); }
#else
template <class T> float pick(const T&, double);
float f() { return pick(x, 3); }
#endif

// mistake: unnamed_dims__top_k
// expect: top_k: a dim and a new one stand in the angle brackets, a tensor in the parentheses: top_k<token, best>(x), best a dim<3>
// expect: not_a_dim<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::top_k(x, 3); }
#else
float top_k(const matrix&, not_ours);
float f() { return top_k(x, 3); }
#endif

// mistake: unnamed_dims__sort
// expect: sort: a dim stands in the angle brackets, a tensor in the parentheses: sort<token>(x)
// expect: not_a_dim<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::sort(x, true); }
#else
float sort(not_ours, not_ours);
float f() { return sort(x, true); }
#endif

// mistake: unnamed_dims__cumsum
// expect: cumsum: a dim stands in the angle brackets, a tensor in the parentheses: cumsum<time>(x)
// expect: not_a_dim<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::cumsum(x, 1); }
#else
float cumsum(const matrix&, not_ours);
float f() { return cumsum(x, 1); }
#endif

// mistake: unnamed_dims__concat
// expect: concat: the new dim and those it joins, or one of all, stand in the angle brackets, tensors in the parentheses: concat<both, left, right>(x, y)
// expect: not_a_dim<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::concat(x, x, 1); }
#else
template <class T> float concat(const T&, const T&, double);
float f() { return concat(x, x, 1); }
#endif

// mistake: unnamed_dims__one_hot
// expect: one_hot: a dim for the classes stands in the angle brackets, whole numbers in the parentheses: one_hot<label>(ids)
// expect: not_a_dim<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::one_hot(x, 4); }
#else
float one_hot(const matrix&, long);
float f() { return one_hot(x, 4); }
#endif

// mistake: unnamed_dims__max_pool
// expect: max_pool: a tensor and windows stand in the parentheses, and nothing in angle brackets: max_pool(x, pool_window<height>{})
// expect: not_a_dim<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::max_pool(x, 2); }
#else
float max_pool(const matrix&, not_ours);
float f() { return max_pool(x, 2); }
#endif

// mistake: unnamed_dims__complete
// expect: complete: takes one tensor or one struct of tensors, and sums over all axes along which it is partial: complete(x), and complete(y) for another one
// expect: wrong_arguments<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::complete(x, x); }
#else
float complete(const matrix&, const matrix&);
float f() { return complete(x, x); }
#endif

// mistake: unnamed_dims__to_rank
// expect: to_rank: a tensor and the number of a rank of its grid stand in the parentheses: to_rank(x, 0)
// expect: wrong_arguments<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::to_rank(x, "all"); }
#else
float to_rank(const matrix&, const char*);
float f() { return to_rank(x, "all"); }
#endif
