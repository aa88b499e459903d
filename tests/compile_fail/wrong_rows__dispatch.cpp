// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows that cannot go to the ranks of their groups, or not come back.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/dispatch.hpp>

#include "names.hpp"

struct expert : dm::dim<4> {};
struct odd : dm::dim<3> {};
using chosen = dm::tensor<int, by_batch, batch>;
using tokens = dm::tensor<float, by_batch, batch, pixel>;
using wide = dm::tensor<float, dm::layout<pod, dm::split<pixel, rows>>, batch, pixel>;
using other = dm::tensor<float, dm::layout<pod, dm::split<pixel, rows>>, pixel>;
using grown = dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch>;

// mistake: foreign_axis
// The axis is of another mesh.
// expect: all_to_all_counts: the mesh lacks this axis; name the one that splits the rows
// expect: axis_not_in_mesh<depth
struct depth : dm::axis<2> {};
#ifdef COMPILE_FAIL
auto f(const chosen& c) { return dm::all_to_all_counts<batch, expert, depth>(c); }
#else
auto f(const chosen& c) { return dm::all_to_all_counts<batch, expert, rows>(c); }
#endif

// mistake: groups_of_elements
// A group for each element of a row.
// expect: all_to_all_counts: takes the group of each row: the dim of rows and no other; merge what else numbers them into it
// expect: dim_in_one_input_only<pixel>
using many = dm::tensor<int, by_batch, batch, pixel>;
#ifdef COMPILE_FAIL
auto f(const many& c) { return dm::all_to_all_counts<batch, expert, rows>(c); }
#else
auto f(const chosen& c) { return dm::all_to_all_counts<batch, expert, rows>(c); }
#endif

// mistake: rows_not_split
// The axis splits nothing.
// expect: all_to_all_counts: this axis, and no other, splits the rows; relayout the groups' numbers
// expect: axis_splits_nothing<cols
#ifdef COMPILE_FAIL
auto f(const chosen& c) { return dm::all_to_all_counts<batch, expert, cols>(c); }
#else
auto f(const chosen& c) { return dm::all_to_all_counts<batch, expert, rows>(c); }
#endif

// mistake: rows_said_otherwise
// The angle brackets say that rows lie unevenly, and the type does not.
// expect: all_to_all_counts: the rows are split otherwise than the angle brackets say; name their dim alone, or relayout the groups' numbers
// expect: dim_split_differently<batch
#ifdef COMPILE_FAIL
auto f(const chosen& c) { return dm::all_to_all_counts<dm::uneven<batch>, expert, rows>(c); }
#else
auto f(const chosen& c) { return dm::all_to_all_counts<batch, expert, rows>(c); }
#endif

// mistake: groups_yet_to_be_summed
// Numbers of groups that are addends.
// expect: all_to_all_counts: the groups' numbers are yet to be summed; complete them first
// expect: partial_operand<cols
using addends = dm::tensor<int, dm::layout<pod, dm::split<batch, rows>, dm::partial<cols>>, batch>;
#ifdef COMPILE_FAIL
auto f(const addends& c) { return dm::all_to_all_counts<batch, expert, rows>(c); }
#else
auto f(const addends& c) { return dm::all_to_all_counts<batch, expert, rows>(dm::complete(c)); }
#endif

// mistake: rows_with_halos
// Blocks with halos.
// expect: all_to_all_counts: the blocks of rows carry halos; take them without
// expect: dim_has_halo<batch
using haloed = dm::tensor<int, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch>;
#ifdef COMPILE_FAIL
auto f(const haloed& c) { return dm::all_to_all_counts<batch, expert, rows>(c); }
#else
auto f(const chosen& c) { return dm::all_to_all_counts<batch, expert, rows>(c); }
#endif

// mistake: groups_do_not_divide
// Three groups on two ranks.
// expect: all_to_all_counts: the number of groups is not a multiple of the axis; change one, or say all_to_all_counts<rows, uneven<groups>, axis>
// expect: not_divisible<odd
#ifdef COMPILE_FAIL
auto f(const chosen& c) { return dm::all_to_all_counts<batch, odd, rows>(c); }
#else
auto f(const chosen& c) { return dm::all_to_all_counts<batch, dm::uneven<odd>, rows>(c); }
#endif

// mistake: groups_as_fractions
// Numbers of groups that are no whole numbers.
// expect: all_to_all_counts: numbers of groups are whole; cast the tensor to an integer type first
using shares = dm::tensor<float, by_batch, batch>;
#ifdef COMPILE_FAIL
auto f(const shares& c) { return dm::all_to_all_counts<batch, expert, rows>(c); }
#else
auto f(const shares& c) { return dm::all_to_all_counts<batch, expert, rows>(dm::cast<int>(c)); }
#endif

// mistake: other_rows
// A tensor without the rows that were counted.
// expect: all_to_all: the tensor lacks the dim or the axis of the plan; it takes the rows whose groups were counted
// expect: dim_not_in_tensor<batch
#ifdef COMPILE_FAIL
auto f(const chosen& c, const other& x) {
  return dm::all_to_all(dm::all_to_all_counts<batch, expert, rows>(c), x);
}
#else
auto f(const chosen& c, const tokens& x) {
  return dm::all_to_all(dm::all_to_all_counts<batch, expert, rows>(c), x);
}
#endif

// mistake: rows_split_otherwise
// The axis splits the elements of the rows.
// expect: all_to_all: rows go as they were counted, split by the axis of the plan alone; relayout the tensor
// expect: axis_splits_nothing<rows
#ifdef COMPILE_FAIL
auto f(const chosen& c, const wide& x) {
  return dm::all_to_all(dm::all_to_all_counts<batch, expert, rows>(c), x);
}
#else
auto f(const chosen& c, const wide& x) {
  return dm::all_to_all(dm::all_to_all_counts<batch, expert, rows>(c), dm::relayout<by_batch>(x));
}
#endif

// mistake: back_from_where_they_were
// Rows that did not go anywhere come back.
// expect: all_to_all_back: rows come back as they arrived, ragged over the axis of the plan alone; relayout the tensor
// expect: dim_split_differently<batch
#ifdef COMPILE_FAIL
auto f(const chosen& c, const tokens& x) {
  return dm::all_to_all_back(dm::all_to_all_counts<batch, expert, rows>(c), x);
}
#else
auto f(const chosen& c, const tokens& x) {
  const auto plan = dm::all_to_all_counts<batch, expert, rows>(c);
  return dm::all_to_all_back(plan, dm::all_to_all(plan, x));
}
#endif

// mistake: haloed_rows
// Rows whose blocks carry halos.
// expect: all_to_all: blocks with halos stay where they are; move them before halo_exchange
// expect: dim_has_halo<batch
#ifdef COMPILE_FAIL
auto f(const chosen& c, const grown& x) {
  return dm::all_to_all(dm::all_to_all_counts<batch, expert, rows>(c), x);
}
#else
auto f(const chosen& c, const tokens& x) {
  return dm::all_to_all(dm::all_to_all_counts<batch, expert, rows>(c), x);
}
#endif

// mistake: other_rows_back
// A tensor without the rows comes back.
// expect: all_to_all_back: the tensor lacks the dim or the axis of the plan; it takes the rows whose groups were counted
// expect: dim_not_in_tensor<batch
#ifdef COMPILE_FAIL
auto f(const chosen& c, const other& x) {
  return dm::all_to_all_back(dm::all_to_all_counts<batch, expert, rows>(c), x);
}
#else
auto f(const chosen& c, const tokens& x) {
  const auto plan = dm::all_to_all_counts<batch, expert, rows>(c);
  return dm::all_to_all_back(plan, dm::all_to_all(plan, x));
}
#endif

// mistake: haloed_rows_back
// Rows whose blocks carry halos come back.
// expect: all_to_all_back: blocks with halos stay where they are; move them before halo_exchange
// expect: dim_has_halo<batch
#ifdef COMPILE_FAIL
auto f(const chosen& c, const grown& x) {
  return dm::all_to_all_back(dm::all_to_all_counts<batch, expert, rows>(c), x);
}
#else
auto f(const chosen& c, const tokens& x) {
  const auto plan = dm::all_to_all_counts<batch, expert, rows>(c);
  return dm::all_to_all_back(plan, dm::all_to_all(plan, x));
}
#endif
