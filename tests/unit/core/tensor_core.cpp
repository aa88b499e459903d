// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/core/tensor_core.hpp"

#include <utility>

using namespace dimesh;
namespace {

template <int N> struct side : dim<> {};
struct rows : axis<2> {};
struct line : mesh<rows> {};
using detail::spec_facts;
using detail::tensor_core;

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
