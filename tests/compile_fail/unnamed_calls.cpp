// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Axes, layouts and types that are left out, or one dim of two. The twins are functions of the
// user's own that have the operations' names: they are called.
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
extern const matrix x;

// mistake: unnamed_calls__softmax
// expect: softmax: dims stand in the angle brackets, a tensor in the parentheses: softmax<label>(x)
// expect: not_a_dim<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::softmax(x); }
#else
float softmax(const matrix&);
float f() { return softmax(x); }
#endif

// mistake: unnamed_calls__log_softmax
// expect: log_softmax: dims stand in the angle brackets, a tensor in the parentheses: log_softmax<label>(x)
// expect: not_a_dim<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::log_softmax(x); }
#else
float log_softmax(const matrix&);
float f() { return log_softmax(x); }
#endif

// mistake: unnamed_calls__argmax
// expect: argmax: a dim stands in the angle brackets, a tensor in the parentheses: argmax<label>(x)
// expect: not_a_dim<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::argmax(x); }
#else
float argmax(const matrix&);
float f() { return argmax(x); }
#endif

// mistake: unnamed_calls__whole
// expect: whole: the dim to be gathered stands in the angle brackets, a tensor in the parentheses: whole<batch>(x)
// expect: not_a_dim<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::whole(x); }
#else
auto f() { return dm::whole<batch>(x); }
#endif

// mistake: unnamed_calls__take
// expect: take: the dim that the ids number stands in the angle brackets, the table and the ids in the parentheses: take<token>(table, ids)
// expect: not_a_dim<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::take(x, x); }
#else
float take(const matrix&, const matrix&);
float f() { return take(x, x); }
#endif

// mistake: unnamed_calls__rename
// expect: rename: the dim and its new name stand in the angle brackets, a tensor in the parentheses: rename<length, key>(x)
// expect: not_a_dim<dimesh::detail::nothing<batch>
#ifdef COMPILE_FAIL
auto f() { return dm::rename<batch>(x); }
#else
template <class> float rename(const matrix&);
float f() { return rename<batch>(x); }
#endif

// mistake: unnamed_calls__own
// expect: own: a dim and the axis that is to split it stand in the angle brackets, a tensor in the parentheses: own<batch, rows>(x)
// expect: not_a_dim<dimesh::detail::nothing<batch>
#ifdef COMPILE_FAIL
auto f() { return dm::own<batch>(x); }
#else
template <class> float own(const matrix&);
float f() { return own<batch>(x); }
#endif

// mistake: unnamed_calls__all_gather
// expect: all_gather: the axis to gather over stands in the angle brackets, a tensor in the parentheses: all_gather<rows>(x)
// expect: not_an_axis<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::all_gather(x); }
#else
float all_gather(const matrix&);
float f() { return all_gather(x); }
#endif

// mistake: unnamed_calls__all_reduce
// expect: all_reduce: the axes to sum over stand in the angle brackets, a tensor in the parentheses: all_reduce<rows>(x); complete(x) finds them
// expect: not_an_axis<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::all_reduce(x); }
#else
float all_reduce(const matrix&);
float f() { return all_reduce(x); }
#endif

// mistake: unnamed_calls__reduce_scatter
// expect: reduce_scatter: the dim to be split and the axis to sum over stand in the angle brackets, a tensor in the parentheses: reduce_scatter<batch, rows>(x)
// expect: not_an_axis<dimesh::detail::nothing<batch>
#ifdef COMPILE_FAIL
auto f() { return dm::reduce_scatter<batch>(x); }
#else
template <class> float reduce_scatter(const matrix&);
float f() { return reduce_scatter<batch>(x); }
#endif

// mistake: unnamed_calls__all_to_all
// expect: all_to_all: the dim that is split, the one to be split, and the axis stand in the angle brackets: all_to_all<batch, hidden, rows>(x)
// expect: not_an_axis<dimesh::detail::nothing<batch, hidden>
#ifdef COMPILE_FAIL
auto f() { return dm::all_to_all<batch, hidden>(x); }
#else
template <class, class> float all_to_all(const matrix&);
float f() { return all_to_all<batch, hidden>(x); }
#endif

// mistake: unnamed_calls__place
// expect: place: an axis and a coordinate stand in the angle brackets, a tensor in the parentheses: place<stage, 0>(x)
// expect: not_an_axis<dimesh::detail::nothing<rows>
#ifdef COMPILE_FAIL
auto f() { return dm::place<rows>(x); }
#else
template <class> float place(const matrix&);
float f() { return place<rows>(x); }
#endif

// mistake: unnamed_calls__send
// expect: send: an axis, from where and to where stand in the angle brackets, a tensor in the parentheses: send<stage, 0, 1>(x)
// expect: not_an_axis<dimesh::detail::nothing<rows>
#ifdef COMPILE_FAIL
auto f() { return dm::send<rows>(x); }
#else
template <class> float send(const matrix&);
float f() { return send<rows>(x); }
#endif

// mistake: unnamed_calls__broadcast
// expect: broadcast: the axis along which all get the tensor stands in the angle brackets: broadcast<stage>(x)
// expect: not_an_axis<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::broadcast(x, 0); }
#else
float broadcast(const matrix&, int);
float f() { return broadcast(x, 0); }
#endif

// mistake: unnamed_calls__relayout
// expect: relayout: the layout that is wanted stands in the angle brackets, a tensor in the parentheses: relayout<by_batch>(x)
// expect: not_a_layout<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::relayout(x); }
#else
float relayout(const matrix&);
float f() { return relayout(x); }
#endif

// mistake: unnamed_calls__cast
// expect: cast: the type of elements stands in the angle brackets, a tensor in the parentheses: cast<double>(x)
// expect: not_an_element<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::cast(x); }
#else
float cast(const matrix&);
float f() { return cast(x); }
#endif
