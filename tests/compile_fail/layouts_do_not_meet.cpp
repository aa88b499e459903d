// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands that lie on the ranks in ways that do not meet: of products of all pairs, tables and
// their places, losses, stencils, and moves.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/exchange.hpp>

#include "names.hpp"

struct vocab : dm::dim<8> {};
struct odd : dm::dim<3> {};
struct depth : dm::axis<2> {};
struct next {
  dm::index_t operator()(dm::index_t i) const { return 1 - i; }
};
struct other_mesh : dm::mesh<cols, rows> {};
template <class T, class... D> using plain = dm::tensor<T, whole, D...>;
template <class R, class T, class... D> using with = dm::tensor<T, dm::layout<pod, R>, D...>;
template <class T, class... D> using apart = dm::tensor<T, dm::layout<other_mesh>, D...>;
template <class X> const X& given();

// mistake: layouts_do_not_meet__outer_partial_split
// expect: outer: one operand is a sum yet to be made along an axis that splits the other; complete it first
#ifdef COMPILE_FAIL
auto f() {
  return dm::outer(given<with<dm::partial<rows>, float, hidden>>(),
                   given<with<dm::split<batch, rows>, float, batch>>());
}
#else
auto f() { return dm::outer(given<plain<float, batch>>(), given<plain<float, hidden>>()); }
#endif

// mistake: layouts_do_not_meet__outer_extreme
// expect: outer: an operand is a maximum or minimum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() {
  return dm::outer(given<with<dm::partial_max<rows>, float, hidden>>(),
                   given<plain<float, batch>>());
}
#else
auto f() { return dm::outer(given<plain<float, batch>>(), given<plain<float, hidden>>()); }
#endif

// mistake: layouts_do_not_meet__outer_axis
// expect: outer: the operands are split differently, or two dims over one axis; relayout one of them
#ifdef COMPILE_FAIL
auto f() {
  return dm::outer(given<with<dm::split<batch, rows>, float, batch>>(),
                   given<with<dm::split<hidden, rows>, float, hidden>>());
}
#else
auto f() { return dm::outer(given<plain<float, batch>>(), given<plain<float, hidden>>()); }
#endif

// mistake: layouts_do_not_meet__outer_meshes
// expect: outer: the operands live on different meshes; put them on one
#ifdef COMPILE_FAIL
auto f() { return dm::outer(given<plain<float, batch>>(), given<apart<float, hidden>>()); }
#else
auto f() { return dm::outer(given<plain<float, batch>>(), given<plain<float, hidden>>()); }
#endif

// mistake: layouts_do_not_meet__outer_one_only
// expect: outer: a dim is split in one operand only; take own<dim, axis> of the other (free), or gather it with whole<dim>
#ifdef COMPILE_FAIL
auto f() {
  return dm::outer(given<with<dm::split<batch, rows>, float, batch, hidden>>(),
                   given<plain<float, batch, label>>());
}
#else
auto f() {
  return dm::outer(given<plain<float, batch, hidden>>(), given<plain<float, batch, label>>());
}
#endif

// mistake: layouts_do_not_meet__targets_with_classes
// expect: softmax_cross_entropy: the targets have the dims of the logits without that of the classes; take off the others, or name the classes
#ifdef COMPILE_FAIL
auto f() {
  return dm::softmax_cross_entropy<label>(given<plain<float, batch, label>>(),
                                          given<plain<int, batch, label>>());
}
#else
auto f() {
  return dm::softmax_cross_entropy<label>(given<plain<float, batch, label>>(),
                                          given<plain<int, batch>>());
}
#endif

// mistake: layouts_do_not_meet__logits_halo
// expect: softmax_cross_entropy: blocks of this dim carry a halo, which would count twice; take the tensor without it
#ifdef COMPILE_FAIL
auto f() {
  return dm::softmax_cross_entropy<label>(
      given<with<dm::split<dm::halo<label, 1>, rows>, float, batch, label>>(),
      given<plain<int, batch>>());
}
#else
auto f() {
  return dm::softmax_cross_entropy<label>(given<plain<float, batch, label>>(),
                                          given<plain<int, batch>>());
}
#endif

// mistake: layouts_do_not_meet__targets_split
// expect: softmax_cross_entropy: logits and targets are split differently; relayout the targets
#ifdef COMPILE_FAIL
auto f() {
  return dm::softmax_cross_entropy<label>(
      given<with<dm::split<batch, rows>, float, batch, label>>(), given<plain<int, batch>>());
}
#else
auto f() {
  return dm::softmax_cross_entropy<label>(given<plain<float, batch, label>>(),
                                          given<plain<int, batch>>());
}
#endif

// mistake: layouts_do_not_meet__targets_elsewhere
// expect: softmax_cross_entropy: the operands live on different meshes; put them on one
#ifdef COMPILE_FAIL
auto f() {
  return dm::softmax_cross_entropy<label>(given<plain<float, batch, label>>(),
                                          given<apart<int, batch>>());
}
#else
auto f() {
  return dm::softmax_cross_entropy<label>(given<plain<float, batch, label>>(),
                                          given<plain<int, batch>>());
}
#endif

// mistake: layouts_do_not_meet__targets_placed
// expect: softmax_cross_entropy: logits and targets live on different ranks of this axis; place<axis, k> what all of them hold (free), or send<axis, k> the other
#ifdef COMPILE_FAIL
auto f() {
  return dm::softmax_cross_entropy<label>(given<plain<float, batch, label>>(),
                                          given<with<dm::placed<rows, 1>, int, batch>>());
}
#else
auto f() {
  return dm::softmax_cross_entropy<label>(given<plain<float, batch, label>>(),
                                          given<plain<int, batch>>());
}
#endif

// mistake: layouts_do_not_meet__table_elsewhere
// expect: take: table and places live on different meshes; put them on one
#ifdef COMPILE_FAIL
auto f() {
  return dm::take<vocab>(given<plain<float, vocab, hidden>>(), given<apart<int, batch>>());
}
#else
auto f() {
  return dm::take<vocab>(given<plain<float, vocab, hidden>>(), given<plain<int, batch>>());
}
#endif

// mistake: layouts_do_not_meet__table_placed
// expect: take: the operands live on different ranks of this axis; place<axis, k> the one that all of them hold (free), or send<axis, k> the one that lives elsewhere
#ifdef COMPILE_FAIL
auto f() {
  return dm::take<vocab>(given<plain<float, vocab, hidden>>(),
                         given<with<dm::placed<rows, 1>, int, batch>>());
}
#else
auto f() {
  return dm::take<vocab>(given<plain<float, vocab, hidden>>(), given<plain<int, batch>>());
}
#endif

// mistake: layouts_do_not_meet__table_shares_dim
// expect: take: table and places share a dim; rename it in one of them
#ifdef COMPILE_FAIL
auto f() {
  return dm::take<vocab>(given<plain<float, vocab, hidden>>(), given<plain<int, hidden>>());
}
#else
auto f() {
  return dm::take<vocab>(given<plain<float, vocab, hidden>>(), given<plain<int, batch>>());
}
#endif

// mistake: layouts_do_not_meet__places_partial
// expect: take: the places are a sum yet to be made; complete them first
#ifdef COMPILE_FAIL
auto f() {
  return dm::take<vocab>(given<plain<float, vocab, hidden>>(),
                         given<with<dm::partial<rows>, int, batch>>());
}
#else
auto f() {
  return dm::take<vocab>(given<plain<float, vocab, hidden>>(), given<plain<int, batch>>());
}
#endif

// mistake: layouts_do_not_meet__table_axis
// expect: take: one mesh axis splits a dim of the table and one of the places; gather one of them with whole<dim>
#ifdef COMPILE_FAIL
auto f() {
  return dm::take<vocab>(given<with<dm::split<hidden, rows>, float, vocab, hidden>>(),
                         given<with<dm::split<batch, rows>, int, batch>>());
}
#else
auto f() {
  return dm::take<vocab>(given<plain<float, vocab, hidden>>(), given<plain<int, batch>>());
}
#endif

// mistake: layouts_do_not_meet__table_partial
// expect: take: the table is a sum yet to be made along an axis that splits the places; complete it first
#ifdef COMPILE_FAIL
auto f() {
  return dm::take<vocab>(given<with<dm::partial<rows>, float, vocab, hidden>>(),
                         given<with<dm::split<batch, rows>, int, batch>>());
}
#else
auto f() {
  return dm::take<vocab>(given<plain<float, vocab, hidden>>(), given<plain<int, batch>>());
}
#endif

// mistake: layouts_do_not_meet__exchange_rules
// expect: exchange: the rules of the new layout do not agree: axes must be in its mesh and do one thing each, dims have one rule; mend the layout
#ifdef COMPILE_FAIL
auto f() {
  return dm::exchange<dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, rows>>>(
      given<plain<float, batch, hidden>>());
}
#else
auto f() {
  return dm::exchange<by_batch>(given<with<dm::split<hidden, rows>, float, batch, hidden>>());
}
#endif

// mistake: layouts_do_not_meet__exchange_odd
// expect: exchange: the extent of a split dim is not a multiple of its mesh axes; change one, or split uneven<dim>
#ifdef COMPILE_FAIL
auto f() { return dm::exchange<dm::layout<pod, dm::split<odd, rows>>>(given<plain<float, odd>>()); }
#else
auto f() {
  return dm::exchange<by_batch>(given<with<dm::split<hidden, rows>, float, batch, hidden>>());
}
#endif

// mistake: layouts_do_not_meet__exchange_mesh
// expect: exchange: the layout is for another mesh than the tensor's; name a layout of its mesh
#ifdef COMPILE_FAIL
auto f() { return dm::exchange<dm::layout<other_mesh>>(given<plain<float, batch>>()); }
#else
auto f() {
  return dm::exchange<by_batch>(given<with<dm::split<hidden, rows>, float, batch, hidden>>());
}
#endif

// mistake: layouts_do_not_meet__exchange_addends
// expect: exchange: the tensor holds addends along an axis that moves; complete it first, or use relayout
#ifdef COMPILE_FAIL
auto f() { return dm::exchange<by_batch>(given<with<dm::partial<rows>, float, batch>>()); }
#else
auto f() {
  return dm::exchange<by_batch>(given<with<dm::split<hidden, rows>, float, batch, hidden>>());
}
#endif

// mistake: layouts_do_not_meet__exchange_asks_addends
// expect: exchange: the layout asks for addends where the tensor has none; name a layout that splits or replicates there
#ifdef COMPILE_FAIL
auto f() { return dm::exchange<dm::layout<pod, dm::partial<rows>>>(given<plain<float, batch>>()); }
#else
auto f() {
  return dm::exchange<by_batch>(given<with<dm::split<hidden, rows>, float, batch, hidden>>());
}
#endif

// mistake: layouts_do_not_meet__exchange_halo
// expect: exchange: blocks with halos stay where they are; exchange before halo_exchange
#ifdef COMPILE_FAIL
auto f() {
  return dm::exchange<by_batch>(
      given<with<dm::split<dm::halo<hidden, 1>, rows>, float, batch, hidden>>());
}
#else
auto f() {
  return dm::exchange<by_batch>(given<with<dm::split<hidden, rows>, float, batch, hidden>>());
}
#endif

// mistake: layouts_do_not_meet__norm2_partial
// expect: norm2: the operand is a sum yet to be made; complete it first
#ifdef COMPILE_FAIL
auto f() { return dm::norm2(given<with<dm::partial<rows>, std::complex<float>, batch>>()); }
#else
auto f() { return dm::norm2(given<plain<std::complex<float>, batch>>()); }
#endif

// mistake: layouts_do_not_meet__cast_complex
// expect: cast: a complex number as a real one is a part of it; say which: real(x), imag(x)
#ifdef COMPILE_FAIL
auto f() { return dm::cast<float>(given<plain<std::complex<float>, batch>>()); }
#else
auto f() { return dm::real(given<plain<std::complex<float>, batch>>()); }
#endif

// mistake: layouts_do_not_meet__broadcast_axis
// expect: broadcast: the tensor's mesh lacks this axis; name one that the tensor is replicated along
#ifdef COMPILE_FAIL
auto f() { return dm::broadcast<depth>(given<plain<float, batch>>(), 1); }
#else
auto f() { return dm::broadcast<rows>(given<plain<float, batch>>(), 1); }
#endif

// mistake: layouts_do_not_meet__permute_nothing
// expect: permute_along: the axis splits no dim of the tensor, so that there are no blocks to exchange along it; name one that does
#ifdef COMPILE_FAIL
auto f() {
  return dm::permute_along<cols>(given<with<dm::split<batch, rows>, float, batch>>(), next{});
}
#else
auto f() {
  return dm::permute_along<rows>(given<with<dm::split<batch, rows>, float, batch>>(), next{});
}
#endif

// mistake: layouts_do_not_meet__send_order
// expect: send: an axis and a coordinate stand in the angle brackets, a tensor in the parentheses: send<stage, 1>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::send<batch, 1>(given<plain<float, batch>>()); }
#else
auto f() { return dm::send<rows, 1>(given<with<dm::placed<rows, 0>, float, batch>>()); }
#endif

// mistake: layouts_do_not_meet__reduce_order
// expect: reduce: an axis and a coordinate stand in the angle brackets, a tensor in the parentheses: reduce<stage, 1>(x)
#ifdef COMPILE_FAIL
auto f() { return dm::reduce<batch, 1>(given<with<dm::partial<rows>, float, batch>>()); }
#else
auto f() { return dm::reduce<rows, 1>(given<with<dm::partial<rows>, float, batch>>()); }
#endif
