// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is not moved, cut, joined or asked for as it lies.
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/block.hpp>
#include <dimesh/nn/dense.hpp>
#include <dimesh/op/attention.hpp>
#include <dimesh/op/chunks.hpp>
#include <dimesh/op/concat.hpp>
#include <dimesh/op/exchange.hpp>
#include <dimesh/op/merge.hpp>
#include <dimesh/op/slice.hpp>
#include <dimesh/op/to_rank.hpp>

#include "names.hpp"

struct piece : dm::dim<3> {};
struct wide : dm::dim<12> {};
struct odd : dm::dim<3> {};
struct other_mesh : dm::mesh<cols, rows> {};
template <class R, class... D> using with = dm::tensor<float, dm::layout<pod, R>, D...>;
template <class... D> using plain = dm::tensor<float, whole, D...>;
template <class X> const X& given();
struct same {
  template <class X> X operator()(const X& x) const { return x; }
};
using tokens = with<dm::split<batch, rows>, batch, label, hidden>;
template <class Cut, class Part, class X> auto in_chunks() {
  return dm::all_to_all_in_chunks<batch, label, rows, Cut, Part>(given<X>(), 2, same{});
}
template <class Part, class Joined, class X> auto joined() {
  return dm::join_chunks<Part, Joined>(given<std::vector<X>>());
}

// mistake: moves_and_cuts__chunks_lack
// expect: all_to_all_in_chunks: the tensor lacks the dim to be cut; name one of its dims
// expect: dim_not_in_tensor<pixel>
#ifdef COMPILE_FAIL
auto f() { return in_chunks<pixel, piece, tokens>(); }
#else
auto f() { return in_chunks<hidden, piece, tokens>(); }
#endif

// mistake: moves_and_cuts__chunks_name
// expect: all_to_all_in_chunks: the tensor has the dim that is to stand for the chunks; choose another name
// expect: dim_already_in_tensor<label>
#ifdef COMPILE_FAIL
auto f() { return in_chunks<hidden, label, tokens>(); }
#else
auto f() { return in_chunks<hidden, piece, tokens>(); }
#endif

// mistake: moves_and_cuts__chunks_split
// expect: all_to_all_in_chunks: an axis splits the dim to be cut; name one that is whole
// expect: dim_is_split<hidden, cols>
using split_twice = dm::tensor<float, hybrid, batch, label, hidden>;
#ifdef COMPILE_FAIL
auto f() { return in_chunks<hidden, piece, split_twice>(); }
#else
auto f() { return in_chunks<hidden, piece, tokens>(); }
#endif

// mistake: moves_and_cuts__chunks_halo
// expect: all_to_all_in_chunks: the blocks carry halos; move them before halo_exchange
// expect: dim_has_halo<batch>
using haloed = with<dm::split<dm::halo<batch, 1>, rows>, batch, label, hidden>;
#ifdef COMPILE_FAIL
auto f() { return in_chunks<hidden, piece, haloed>(); }
#else
auto f() { return in_chunks<hidden, piece, tokens>(); }
#endif

// mistake: moves_and_cuts__join_lacks
// expect: join_chunks: the chunks lack the dim along which to join them; name one of theirs
// expect: dim_not_in_tensor<pixel>
#ifdef COMPILE_FAIL
auto f() { return joined<pixel, hidden, plain<batch, piece>>(); }
#else
auto f() { return joined<piece, hidden, plain<batch, piece>>(); }
#endif

// mistake: moves_and_cuts__join_name
// expect: join_chunks: the chunks have the new dim already; choose another name
// expect: dim_already_in_tensor<batch>
#ifdef COMPILE_FAIL
auto f() { return joined<piece, batch, plain<batch, piece>>(); }
#else
auto f() { return joined<piece, hidden, plain<batch, piece>>(); }
#endif

// mistake: moves_and_cuts__join_split
// expect: join_chunks: an axis splits the dim along which to join; gather it first
// expect: dim_is_split<batch, rows>
#ifdef COMPILE_FAIL
auto f() { return joined<batch, pixel, dm::tensor<float, by_batch, batch, piece>>(); }
#else
auto f() { return joined<piece, hidden, dm::tensor<float, by_batch, batch, piece>>(); }
#endif

// mistake: moves_and_cuts__join_halo
// expect: join_chunks: the chunks carry halos; join them before halo_exchange
// expect: dim_has_halo<batch>
#ifdef COMPILE_FAIL
auto f() {
  return joined<piece, hidden, with<dm::split<dm::halo<batch, 1>, rows>, batch, piece>>();
}
#else
auto f() { return joined<piece, hidden, with<dm::split<batch, rows>, batch, piece>>(); }
#endif

// mistake: moves_and_cuts__all_to_all
// expect: all_to_all: the extent of the second dim is not a multiple of its mesh axes; change one, or say all_to_all<dim, uneven<dim>, axis>
// expect: extent_not_divisible<odd, 3, rows, 2>
using by_odd = with<dm::split<batch, rows>, batch, odd>;
#ifdef COMPILE_FAIL
auto f() { return dm::all_to_all<batch, odd, rows>(given<by_odd>()); }
#else
auto f() { return dm::all_to_all<batch, dm::uneven<odd>, rows>(given<by_odd>()); }
#endif

// mistake: moves_and_cuts__concat_halo
// expect: concat: the blocks of a joined dim carry halos; join before halo_exchange
// expect: dim_has_halo<
using haloed = dm::tensor<float, dm::layout<pod, dm::split<dm::halo<hidden, 1>>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const haloed& x) { return dm::concat<wide, hidden, hidden>(x, x); }
#else
auto f(const plain<batch, hidden>& x) { return dm::concat<wide, hidden, hidden>(x, x); }
#endif

// mistake: moves_and_cuts__pad_halo
// expect: pad: the blocks of the dim carry halos; pad it before halo_exchange
// expect: dim_has_halo<
using haloed = dm::tensor<float, dm::layout<pod, dm::split<dm::halo<hidden, 1>>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const haloed& x) { return dm::pad<hidden, wide>(x, 3); }
#else
auto f(const plain<batch, hidden>& x) { return dm::pad<hidden, wide>(x, 3); }
#endif

// mistake: moves_and_cuts__merge
// expect: merge: the extent of the new dim is not a multiple of the axes that split it; whole<dim> the first dim, or change extents
// expect: extent_not_divisible<
struct length : dm::dim<> {};
struct nine : dm::dim<9> {};
#ifdef COMPILE_FAIL
auto f(const with<dm::split<length, rows>, length, piece>& x) {
  return dm::merge<nine, length, piece>(x);
}
#else
auto f(const plain<length, piece>& x) { return dm::merge<nine, length, piece>(x); }
#endif

// mistake: moves_and_cuts__reduce_scatter_halo
// expect: reduce_scatter: the blocks carry halos; reduce the tensor before halo_exchange instead
// expect: dim_has_halo<
using addends =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, cols>, dm::partial<rows>>,
               batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::reduce_scatter<hidden, rows>(x); }
#else
auto f(const with<dm::partial<rows>, batch, hidden>& x) {
  return dm::reduce_scatter<hidden, rows>(x);
}
#endif

// mistake: moves_and_cuts__reduce_scatter
// expect: reduce_scatter: the extent of the dim is not a multiple of its mesh axes; change one, or say reduce_scatter<uneven<dim>, axis>
// expect: extent_not_divisible<odd, 3, rows, 2>
#ifdef COMPILE_FAIL
auto f(const with<dm::partial<rows>, odd>& x) { return dm::reduce_scatter<odd, rows>(x); }
#else
auto f(const with<dm::partial<rows>, odd>& x) {
  return dm::reduce_scatter<dm::uneven<odd>, rows>(x);
}
#endif

// mistake: moves_and_cuts__relayout
// expect: relayout: the layout is for another mesh than the tensor's; name a layout of its mesh, or pass a grid of that mesh, too: relayout<layout>(x, grid)
// expect: meshes_differ<
#ifdef COMPILE_FAIL
auto f(const plain<batch>& x) { return dm::relayout<dm::layout<other_mesh>>(x); }
#else
auto f(const plain<batch>& x) { return dm::relayout<by_batch>(x); }
#endif

// mistake: moves_and_cuts__exchange
// expect: exchange: the tensor, or the layout, has a place on an axis that moves; relayout goes there and comes from there
// expect: tensor_is_placed<rows>
#ifdef COMPILE_FAIL
auto f(const with<dm::placed<rows, 0>, batch>& x) { return dm::exchange<by_batch>(x); }
#else
auto f(const plain<batch>& x) { return dm::exchange<by_batch>(x); }
#endif

// mistake: moves_and_cuts__from_rank
// expect: from_rank: the blocks carry halos; take it without, then halo_exchange
// expect: dim_has_halo<batch>
#ifdef COMPILE_FAIL
using loaded = with<dm::split<dm::halo<batch, 1>, rows>, batch>;
#else
using loaded = with<dm::split<batch, rows>, batch>;
#endif
auto f(const dm::grid<pod>& g, const std::vector<float>& v) {
  return dm::from_rank<loaded>(g, v, 0);
}

// mistake: moves_and_cuts__broadcast_element
// expect: broadcast_element: an index is needed for every dim; give one each, in the tensor's order
#ifdef COMPILE_FAIL
auto f(const plain<batch, hidden>& x) {
  return dm::broadcast_element(x, std::array<dm::index_t, 1>{3});
}
#else
auto f(const plain<batch, hidden>& x) {
  return dm::broadcast_element(x, std::array<dm::index_t, 2>{3, 1});
}
#endif

// mistake: moves_and_cuts__attention_places
// expect: attention: the operands live on different ranks of this axis; place<axis, k> the one that all of them hold (free), or send<axis, k> the one that lives elsewhere
template <int K>
using text = dm::tensor<float, dm::layout<pod, dm::placed<rows, K>>, batch, hidden>;
template <int K>
using keys = dm::tensor<float, dm::layout<pod, dm::placed<rows, K>>, label, hidden>;
#ifdef COMPILE_FAIL
auto f(const text<0>& q, const keys<1>& k) { return dm::attention<batch, label, hidden>(q, k, k); }
#else
auto f(const text<0>& q, const keys<0>& k) { return dm::attention<batch, label, hidden>(q, k, k); }
#endif

// mistake: moves_and_cuts__attention_split
// expect: attention: the operands are split differently; relayout one of them
template <class... A> using text = with<dm::split<pixel, A...>, pixel, batch, hidden>;
template <class... A> using keys = with<dm::split<pixel, A...>, pixel, label, hidden>;
#ifdef COMPILE_FAIL
auto f(const text<rows, cols>& q, const keys<cols, rows>& k) {
  return dm::attention<batch, label, hidden>(q, k, k);
}
#else
auto f(const text<rows, cols>& q, const keys<rows, cols>& k) {
  return dm::attention<batch, label, hidden>(q, k, k);
}
#endif

// mistake: moves_and_cuts__project
// expect: project: the weights share no dim with the tensor, so that nothing would be summed; name the dim to be summed in both
using model = dm::nn::model<whole>;
#ifdef COMPILE_FAIL
auto f(const plain<batch, hidden>& x, const plain<pixel, label>& w) {
  return dm::nn::project(model{}, x, w);
}
#else
auto f(const plain<batch, hidden>& x, const plain<hidden, label>& w) {
  return dm::nn::project(model{}, x, w);
}
#endif
