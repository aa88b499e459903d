// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/core/tensor_core.hpp"

#include <utility>

using namespace dimesh;
namespace {

template <int N> struct side : dim<> {};
struct rows : axis<2> {};
struct line : mesh<rows> {};
using detail::dim_runs;
using detail::spec_facts;
using detail::tensor_core;

// ---- six dims in place, more elsewhere ----------------------------------------------------------
constexpr dim_runs numbered(int size) {
  dim_runs r;
  r.resize(size);
  for (int d = 0; d < size; ++d) {
    r.extents()[d] = 10 + d;
    r.own()[d] = {d, 5};
  }
  return r;
}
constexpr bool is_numbered(const dim_runs& r, int size) {
  for (int d = 0; d < size; ++d)
    if (r.extents()[d] != 10 + d || r.own()[d].offset != d || r.own()[d].length != 5) return false;
  return true;
}
constexpr bool copies(int size) {
  const dim_runs from = numbered(size);
  dim_runs copied(from), assigned, larger = numbered(16), smaller = numbered(1);
  assigned = from;
  larger = from;
  smaller = std::move(copied);
  const dim_runs& same = smaller;
  smaller = same;
  const dim_runs moved(std::move(assigned));
  larger.extents()[0] = 10;  // each has numbers of its own
  return is_numbered(from, size) && is_numbered(larger, size) && is_numbered(smaller, size) &&
         is_numbered(moved, size);
}
static_assert(copies(1) && copies(6) && copies(7) && copies(8) && copies(16));
constexpr bool apart() {
  const dim_runs from = numbered(8);
  dim_runs to(from);
  to.extents()[7] = 99;
  to.own()[7].length = 1;
  return is_numbered(from, 8);
}
static_assert(apart());

// ---- a tensor of eight dims ---------------------------------------------------------------------
template <class> struct of_sides;
template <int... N> struct of_sides<std::integer_sequence<int, N...>> {
  using spec = detail::make_spec<float, layout<line, split<side<2>, rows>>, side<N>...>;
};
using eight = of_sides<std::make_integer_sequence<int, 8>>::spec;

constexpr bool is_eight(const tensor_core& x) {
  return x.rank() == 8 && x.extent(2) == 4 && x.own(2).length == 2 && x.extent(7) == 9 &&
         x.local(7) == 9 && x.stride(6) == 9 && x.stride(5) == 72 && x.is_shape &&
         x.elements() == 2 * 3 * 2 * 5 * 6 * 7 * 8 * 9 && x.bytes() == 4 * x.elements();
}
constexpr bool eight_dims() {
  const index_t sizes[] = {2}, extents[] = {2, 3, 4, 5, 6, 7, 8, 9};
  tensor_core x(&spec_facts<eight>);
  x.make_shape(sizes, extents, nullptr);
  const tensor_core copied(x);
  tensor_core assigned, moved_to;
  assigned = copied;
  tensor_core moved(std::move(x));
  moved_to = std::move(moved);
  tensor_core placed(spec_facts<eight>.dual);
  placed.place_like(copied);
  return is_eight(copied) && is_eight(assigned) && is_eight(moved_to) && is_eight(placed);
}
static_assert(eight_dims());

}  // namespace
