// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which layout do a few annotations imply? The text of a program is written without layouts, with
// shard and replicate on some of its tensors (op/shard.hpp). It runs on sketches while compiling;
// what is said of a dim of one tensor flows to all tensors that operations join with it, and to the
// parameters. What comes out is a layout as one writes it by hand; the text is then compiled as it
// stands, under that layout (decision 0028).
//
//   using any = layout<pod, at_run_time>;
//   using found = inferred<loss, network<any>, probe<float, pod, batch, pixel>>;
//   found::layout      -> layout<pod, split<batch, rows>, split<hidden, cols>>
//   found::moves       -> inserted<moved<3, movement::all_gather, received_bytes<4096>, cols>>
//   static_assert(found::bytes() <= 4096);       // with what operations communicate by themselves
//   network<found::layout> p;   loss{}(p, x);        // ordinary code from here on
#pragma once

#include "dimesh/grad/cost.hpp"
#include "dimesh/op/parts/repair.hpp"
#include "dimesh/op/shard_along.hpp"
#include "dimesh/plan/parts/inferred_svg.hpp"
#include "dimesh/plan/parts/settle.hpp"
#include "dimesh/plan/probe.hpp"

namespace dimesh {

/// The annotation that a text reaches as its Number-th, the first one being 1. Number 0: an
/// operation, which takes the dim whole only.
template <int Number, const annotation_note& Note> struct annotation;
/// A way out: annotate this operand (the first one being 1) like the other annotation.
template <int Operand, const annotation_note& Note> struct annotate_operand;
/// A way out: replicate<dim>(x) of this operand.
template <int Operand, class... Dim> struct replicate_operand;
/// A way out: replicate<dim>(x) in the place of the Number-th annotation.
template <int Number, class... Dim> struct replicate_instead;

/// What annotations move, in the order of the text.
template <class... Moved> struct inserted;
/// In the place of received_bytes: they depend on extents or axes that only the run knows.
struct bytes_of_the_run;
/// A step of the Number-th annotation, along axes A..., and what a rank receives.
template <int Number, movement Kind, class Bytes, class... A> struct moved;

namespace detail {

/// An argument of which nothing is said.
template <class X> constexpr X sketched_argument(sketch& s) {
  X x{};
  const auto sketched = [&s](tensor_core& core) {
    core.facts = &s.given(*core.facts).facts;
    if (!core.facts->is_static) assume_extents(core);
  };
  if constexpr (Tensor<X>) {
    sketched(core_of(x));
  } else {
    const core_list<X> all(x);
    for (int i = 0; i < all.size; ++i) sketched(*all.at[i]);
  }
  return x;
}
/// One call: in braces, arguments are made in their order.
template <class Text> struct text_call {
  template <class... X> constexpr explicit text_call(const X&... x) { (void)Text{}(x...); }
};
template <int Room, class Text, class... X> constexpr sketch_report<Room> sketch_program() {
  sketch s;
  (void)text_call<Text>{sketched_argument<X>(s)...};
  return settled<Room>(s);
}
/// Most texts move less often.
inline constexpr int few_moves = 64;
template <int Room, class Text, class... X> struct sketch_run {
  static constexpr sketch_report<Room> report = sketch_program<Room, Text, X...>();
};
/// With room for all moves: a text that moves often runs twice.
template <class Text, class... X>
using full_run =
    sketch_run<std::max(few_moves, sketch_run<few_moves, Text, X...>::report.steps), Text, X...>;

template <class Leaves> struct dims_of_leaves;
template <class... X> struct dims_of_leaves<list<X...>> {
  using type = united<list<>, typename X::spec_type::dims...>;
};

template <long Bytes, bool Sized>
using bytes_type = std::conditional_t<Sized, received_bytes<Bytes>, bytes_of_the_run>;
constexpr int nth_axis(unsigned axes, std::size_t n) {
  for (; n > 0; --n) axes &= axes - 1;
  return first_axis(axes);
}
/// What the run of a text comes to, as types.
template <class Text, class M, class Dims, const auto& R> struct inference {
  template <int I, std::size_t... A> static auto rule(std::index_sequence<A...>) {
    constexpr const layout_rule& r = R.line[I].rule;
    using bare = typename dim_numbered<r.dim->number, Dims>::type;
    using dim = typename dressed_dim<bare, r.uneven, r.ragged, 0, 0>::type;
    if constexpr (r.kind == rule_kind::split_if_free)
      return tag<split_if_free<dim, type_at<r.axis[A], typename M::axes>...>>{};
    else
      return tag<split<dim, type_at<r.axis[A], typename M::axes>...>>{};
  }
  template <int... I> static auto line(std::integer_sequence<int, I...>) {
    return tag<dimesh::layout<M, typename decltype(rule<I>(
                                     std::make_index_sequence<R.line[I].rule.axes>{}))::type...>>{};
  }
  using layout = typename decltype(line(std::make_integer_sequence<int, R.rules>{}))::type;

  template <int I, std::size_t... A> static auto step(std::index_sequence<A...>) {
    constexpr const sketched_move& m = R.moves[I];
    using bytes = bytes_type<static_cast<long>(R.moves[I].bytes), R.moves[I].is_sized>;
    return tag<moved<m.number, m.kind, bytes, type_at<nth_axis(m.axes, A), typename M::axes>...>>{};
  }
  template <int... I> static auto steps(std::integer_sequence<int, I...>) {
    return tag<inserted<typename decltype(step<I>(
        std::make_index_sequence<std::popcount(R.moves[I].axes)>{}))::type...>>{};
  }
  using moves = typename decltype(steps(std::make_integer_sequence<int, R.steps>{}))::type;

  /// Dims that the text makes, and no argument has, have no type here.
  template <int I> static auto made_whole() {
    if constexpr (dims_in<Dims>.place_of(R.repair.whole[I]) < 0)
      return tag<list<>>{};
    else
      return tag<list<typename dim_numbered<R.repair.whole[I]->number, Dims>::type>>{};
  }
  template <int... I> static auto all_made_whole(std::integer_sequence<int, I...>) {
    return tag<typename concat_impl<list<>, typename decltype(made_whole<I>())::type...>::type>{};
  }
  template <template <class, class, class...> class Fault, class... D>
  static auto quarrel(list<D...>) {
    using one = annotation<R.by[0], *R.note[0]>;
    using other = annotation<R.by[1], *R.note[1]>;
    using bytes = bytes_type<static_cast<long>(R.repair.bytes), R.repair.is_sized>;
    constexpr int k = R.repair.operand;
    if constexpr (R.repair.instead > 0)
      return tag<Fault<one, other, replicate_instead<R.repair.instead, D...>, bytes>>{};
    else if constexpr (k == 0)
      return tag<Fault<one, other>>{};
    else if constexpr (R.repair.like == nullptr)
      return tag<Fault<one, other, replicate_operand<k, D...>, bytes>>{};
    else if constexpr (R.repair.dims == 0)
      return tag<Fault<one, other, annotate_operand<k, *R.repair.like>, bytes>>{};
    else
      return tag<Fault<one, other, replicate_operand<k, D...>, annotate_operand<k, *R.repair.like>,
                       bytes>>{};
  }
  static auto find_fault() {
    using whole =
        typename decltype(all_made_whole(std::make_integer_sequence<int, R.repair.dims>{}))::type;
    if constexpr (R.quarrel == sketch_quarrel::differ)
      return quarrel<annotations_differ>(whole{});
    else if constexpr (R.quarrel == sketch_quarrel::share)
      return quarrel<annotations_share_axis>(whole{});
    else if constexpr (R.quarrel == sketch_quarrel::refuse)
      return tag<text_takes_no_layout<Text>>{};
    else
      return tag<no_fault>{};
  }
  using fault = typename decltype(find_fault())::type;
};

/// Keyed by the fault alone: one error, whatever asks.
template <class Fault> struct agreed {
  static_assert(ok<only<Fault, wrong_arguments>>,
                "inferred: behind the text stand probes, or structs of them, and one at least: "
                "inferred<text, network<layout<pod, at_run_time>>, probe<float, pod, batch>>");
  static_assert(ok<only<Fault, function_not_constexpr>>,
                "inferred: the text cannot run while compiling; let its operator() be constexpr, "
                "and take operations that run on probes");
  static_assert(ok<only<Fault, text_takes_no_layout>>,
                "inferred: an operation of the text refuses its operands under any layout; compile "
                "the text under layout<mesh>, which says why");
  static_assert(ok<only<Fault, annotations_differ>>,
                "inferred: two annotations split a dim in different ways, and their tensors meet; "
                "take the repair that is named, or change one of them");
  static_assert(ok<only<Fault, annotations_share_axis>>,
                "inferred: annotations split two dims of one tensor over the same axis; take the "
                "repair that is named, or another axis");
};

template <class X> inline constexpr bool is_sketchable = false;
template <class X>
  requires(Tensor<X> || TensorStruct<X>)
inline constexpr bool is_sketchable<X> = probes_only<typename leaves<X>::type>;

/// What is wrong with the arguments themselves.
template <bool Probes, class... X>
using sketching_fault = std::conditional_t<Probes, no_fault, wrong_arguments<X...>>;

template <class Text, class... X>
concept RunsOnSketches =
    requires { typename std::bool_constant<(sketch_program<few_moves, Text, X...>().rules >= 0)>; };
template <class Text, class... X> struct sketch_run_fault {
  using type = function_not_constexpr<Text>;
};
template <class Text, class... X>
  requires RunsOnSketches<Text, X...>
struct sketch_run_fault<Text, X...> {
  using type = no_fault;
};

/// What is inferred of arguments in which nothing is wrong; else that, and an empty layout.
template <class Fault, class Text, class... X> struct inference_of {
  struct empty : mesh<> {};
  using fault = Fault;
  using layout = dimesh::layout<empty>;
  using moves = inserted<>;
  static constexpr sketch_report<1> report{};
};
template <class Text, class... X> struct inference_of<no_fault, Text, X...> {
  using leaf_list = typename concat_impl<list<>, typename leaves<X>::type...>::type;
  static constexpr const auto& report = full_run<Text, X...>::report;
  using found = inference<Text, typename mesh_of_arguments<X...>::type,
                          typename dims_of_leaves<leaf_list>::type, report>;
  using fault = typename found::fault;
  using layout = typename found::layout;
  using moves = typename found::moves;
};
template <class Fault, class Text, class... X> struct fault_before_run {
  using type = Fault;
};
template <class Text, class... X>
struct fault_before_run<no_fault, Text, X...> : sketch_run_fault<Text, X...> {};
template <class Text, class... X>
using inference_from = inference_of<
    typename fault_before_run<
        sketching_fault<((sizeof...(X) > 0) && ... && is_sketchable<X>), X...>, Text, X...>::type,
    Text, X...>;

/// Tensors of any layout, as shapes under L.
template <class L> struct shaped_under {
  template <class> using to = shaped<L>;
};
/// In the place of a cost that another error keeps from being told.
template <class M> struct no_cost {
  static constexpr ledger<M> value{};
  static constexpr index_t flops = 0, moved = 0, peak = 0;
  template <class...> static constexpr index_t bytes = 0;
  template <class...> static constexpr index_t ring_bytes = 0;
  template <class...> static constexpr index_t calls = 0;
};
/// The text compiled under L, if nothing is wrong with it.
template <class Fault, class Text, class L, class... X> struct text_under {
  static constexpr bool is_sized = true;
  static constexpr no_cost<typename L::mesh> cost() { return {}; }
};
template <class Text, class L, class... X> struct text_under<no_fault, Text, L, X...> {
  template <class Any> using under = rebind_layout<Any, shaped_under<L>::template to>;
  static constexpr bool is_sized = ok<static_cost_fault<under<X>...>>;
  static constexpr auto cost() {
    if constexpr (is_sized)
      return asserted_cost<Text, under<X>...>();
    else
      return no_cost<typename L::mesh>{};
  }
};

}  // namespace detail

/// What the annotations of Text, a function object without a state, imply when it is called with
/// arguments of types X...: probes, or structs of them. Of one dim, all arguments have the same
/// layout; parameters of which nothing is said replicate. Extents that are open stay so: the text
/// is run with others in their place.
template <class Text, class... X>
class inferred : detail::agreed<typename detail::inference_from<Text, X...>::fault> {
  using found = detail::inference_from<Text, X...>;

 public:
  using fault = typename found::fault;
  /// For all arguments: rules in mesh order. As one would write it.
  using layout = typename found::layout;
  /// What annotations move, in the order of the text: inserted<moved<...>, ...>.
  using moves = typename found::moves;

  static constexpr int annotations() { return found::report.annotations; }
  /// What one call of the text costs under the layout (grad/cost.hpp): all that annotations move,
  /// that operations communicate and that the text completes. found::cost().bytes<cols>. Where all
  /// extents and axes have static sizes.
  static constexpr auto cost() {
    using counted = detail::text_under<fault, Text, layout, X...>;
    static_assert(counted::is_sized,
                  "inferred: bytes depend on sizes of axes or on extents that only the run knows; "
                  "count the text instead");
    return counted::cost();
  }
  /// What a rank receives in one call, of all that its cost counts.
  static constexpr index_t bytes() { return decltype(cost())::template ring_bytes<>; }
  /// The layout, who said what, every argument's tensors, and the moves, as a text. Its first line
  /// can be pasted.
  static std::string text() { return detail::inferred_text<layout, X...>(found::report); }
  /// The same as a picture, an SVG file's text.
  static std::string svg() { return detail::inferred_svg<layout, X...>(found::report); }
};

}  // namespace dimesh
