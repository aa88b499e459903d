// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do the types of a pipeline's cell end? Here: its weights, what it gets and what it gives
// are worked out, and the executor sees a cell_base. One class for each kind of cell at each place.
//
//   moved<tensor<float, layout<pod, placed<stage, 0>>, batch>, stage, 1>
//     -> tensor<float, layout<pod, placed<stage, 1>>, batch>
#pragma once

#include "dimesh/grad/recompute.hpp"
#include "dimesh/pipeline/cell_run.hpp"
#include "dimesh/pipeline/layers.hpp"

namespace dimesh::detail::pipeline {

// ---- types: what goes in where ------------------------------------------------------------------

/// A layout at coordinate K of A instead of where it was.
template <class L, class A, index_t K> struct at_place;
template <class M, class... Rule, class A, index_t K> struct at_place<layout<M, Rule...>, A, K> {
  template <class R> struct rule {
    using type = list<R>;
  };
  template <index_t J> struct rule<placed<A, J>> {
    using type = list<>;
  };
  template <class List> struct with;
  template <class... R> struct with<list<R...>> {
    using type = layout<M, placed<A, K>, R...>;
  };
  using type =
      typename with<typename concat_impl<list<>, typename rule<Rule>::type...>::type>::type;
};
template <class A, index_t K> struct to_place {
  template <class X> struct leaf {
    using type = X;
  };
  template <class T, class L, class... D> struct leaf<basic_tensor<T, L, D...>> {
    using type = tensor<T, typename at_place<L, A, K>::type, D...>;
  };
  template <class L> struct layout : at_place<L, A, K> {};
};
/// What is given, as the cell at coordinate K gets it.
template <class X, class A, index_t K> using moved = map_leaves<X, to_place<A, K>>;

/// Recorded where elements are real numbers.
struct where_real {
  template <class X> struct leaf {
    using type = X;
  };
  template <class T, class L, class... D>
    requires has_gradient<T>
  struct leaf<basic_tensor<T, L, D...>> {
    using type = tensor<T, tracked<L>, D...>;
  };
  template <class L> struct layout {
    using type = tracked<L>;
  };
};
template <class X, bool Recorded> struct recorded_if {
  using type = X;
};
template <class X> struct recorded_if<X, true> {
  using type = map_leaves<X, where_real>;
};

/// Does all of it live at coordinate K?
template <class A, index_t K, class Leaves> inline constexpr bool all_at = false;
template <class A, index_t K, class... X>
inline constexpr bool all_at<A, K, list<X...>> =
    (true && ... &&
     (spec_of<X>::table.axis[axis_index<typename X::mesh_type, A>].what == use::placed &&
      spec_of<X>::table.axis[axis_index<typename X::mesh_type, A>].at == K));

/// Does some of it live at another one? What has no place is on all ranks.
template <class A, index_t K, class Leaves> inline constexpr bool any_elsewhere = false;
template <class A, index_t K, class... X>
inline constexpr bool any_elsewhere<A, K, list<X...>> = [] {
  const auto elsewhere = [](const table& t, int axis) {
    return axis >= 0 && t.axis[axis].what == use::placed && t.axis[axis].at != K;
  };
  return (false || ... || elsewhere(spec_of<X>::table, axis_index<typename X::mesh_type, A>));
}();

/// What a cell says: its function before dims, if that has a name; of layers (layers.hpp) the first
/// or the last one.
template <class Layer, class... D> struct said_by {
  template <int I> using gives = cell_gives<I, Layer, D...>;
  template <int I> using takes = cell_takes<I, Layer, D...>;
};
template <class... D> struct said_by<void, D...> {
  template <int I> using gives = cell_gives<I, D...>;
  template <int I> using takes = cell_takes<I, D...>;
};
/// What goes from one cell to the next, beside what is carried.
template <class X, class... P>
struct dims_given<std::tuple<on_the_way, X, P...>> : dims_given<X> {};
/// Dims that cell I says it takes, and those that it gets of the cell before, whose function is F.
template <std::size_t I, class F, class C, class Takes, class Has> struct dims_meeting {
  using type = no_fault;
};
template <std::size_t I, class F, class C, class D, class... More, class... Has>
  requires(!std::is_same_v<list<D, More...>, list<Has...>>)
struct dims_meeting<I, F, C, list<D, More...>, list<Has...>> {
  using given = said_by<typename end_layers<F>::last, Has...>;
  using taken = said_by<typename end_layers<C>::first, D, More...>;
  using type = stages_do_not_meet<typename given::template gives<static_cast<int>(I) - 1>,
                                  typename taken::template takes<static_cast<int>(I)>>;
};
template <std::size_t I, class F, class C, class Takes, class X> constexpr auto find_meeting() {
  if constexpr (std::is_same_v<Takes, list<>> || is_poison<X>)
    return tag<no_fault>{};
  else
    return tag<typename dims_meeting<I, F, C, Takes, typename dims_given<X>::type>::type>{};
}
/// The first name that nobody has recalled at the end.
template <class Y> struct first_carried {
  using type = no_fault;
};
template <class X, class Name, class T, class... P>
struct first_carried<std::tuple<on_the_way, X, std::pair<Name, T>, P...>> {
  using type = name_not_recalled<Name>;
};

// ---- cells with their types ---------------------------------------------------------------------

/// What the last cell's value goes through.
template <class Loss> struct mean_of {
  const Loss& loss;
  double factor;
  template <class Y> constexpr auto operator()(const Y& y, int micro) const {
    if constexpr (requires { loss(y, micro); })
      return loss(y, micro) * factor;
    else
      return loss(y) * factor;
  }
};
struct nothing_more {
  template <class Y> constexpr const Y& operator()(const Y& y, int) const { return y; }
};

/// F at coordinate K, with weights W, from an X; then After.
template <index_t K, class F, class W, class X, bool Recorded, bool First, class After>
class typed_cell final : public cell_base {
  using weights_type = typename recorded_if<W, Recorded>::type;
  using x_type = typename recorded_if<X, Recorded && !First>::type;
  using slices = slices_of_cell<F>;
  using past = typename slices::past;
  using past_type = typename recorded_if<past, Recorded>::type;
  using call_type = typename slices::template call<weights_type, x_type, past_type>;
  using raw = typename call_type::given;

 public:
  using within = typename fault_in<raw>::type;  // what is wrong between its layers
  static constexpr bool meets =
      !std::is_same_v<raw, not_called> && !std::is_void_v<raw> && ok<within>;
  /// What is handed on to the next slice is what that takes.
  static constexpr bool follows =
      !meets || std::is_same_v<map_leaves<typename call_type::handed_on, without_records>, past>;
  /// Names are for layers of the chain.
  using left_over =
      typename std::conditional_t<std::is_same_v<After, nothing_more>, first_carried<poison>,
                                  first_carried<std::remove_cvref_t<raw>>>::type;
  using y_type = std::conditional_t<meets && ok<left_over>, std::remove_cvref_t<raw>, poison>;
  using given =
      std::remove_cvref_t<decltype(std::declval<const After&>()(std::declval<const y_type&>(), 0))>;
  using plain_given = map_leaves<given, without_records>;

  typed_cell(const F& f, const W& w, const After& after) : f_(f), w_(w), after_(after) {
    place = static_cast<int>(K);
    typed_cell::renew();
    sums.resize(weights.size());
    note<X>(takes);
    note<plain_given>(gives);
    note<past>(carries);
  }
  void call(const cores& w, const cores& x, int micro, cores& y) const override {
    auto weights_here = in_place_of<weights_type>(w_);
    put<W>(w, weights_here);
    x_type x_here{};
    put<X>(x, x_here);
    past_type past_here{};
    put<past>(x, past_here, x.size() - carries.size());
    const auto made = slices::run(f_, weights_here, x_here, past_here, micro);
    const auto out = after_(made.first, micro);
    add<plain_given>(y, out);
    add<past>(y, made.second);
  }
  cores first_past(int micro) const override {
    cores all;
    add<past>(all, slices::first(f_, micro));
    return all;
  }
  void renew() override {
    const core_list<W> all(w_);
    weights.clear();
    for (int i = 0; i < all.size; ++i) weights.push_back(*all.at[i]);
  }
  /// The gradient, of other cells' without elements. Sums begin anew.
  auto gradient() {
    auto g = in_form_of<rebind_layout<W, dimesh::gradient>>(w_);
    const core_list<W> to(g);
    for (int i = 0; i < to.size; ++i) {
      const auto n = static_cast<std::size_t>(i);
      const tensor_facts* const facts = to.at[i]->facts;
      if (sums[n].defined())
        *to.at[i] = std::exchange(sums[n], tensor_core{});
      else
        to.at[i]->place_like(weights[n]);
      to.at[i]->facts = facts;
    }
    return g;
  }

 private:
  template <class S> static void note(cores& to) {
    S empty{};
    const core_list<S> all(empty);
    for (int i = 0; i < all.size; ++i) to.emplace_back(all.at[i]->facts);
  }
  template <class Form, class S> static void add(cores& to, const S& from) {
    const core_list<Form> all(from);
    for (int i = 0; i < all.size; ++i) to.push_back(*all.at[i]);
  }
  template <class Form, class S> static void put(const cores& from, S& to, std::size_t at = 0) {
    const core_list<Form> all(to);
    for (int i = 0; i < all.size; ++i) {
      const tensor_facts* const facts = all.at[i]->facts;
      *all.at[i] = from[at + static_cast<std::size_t>(i)];
      all.at[i]->facts = facts;
    }
  }

  const F& f_;
  const W& w_;
  const After& after_;
};

// ---- all cells ----------------------------------------------------------------------------------

/// The first thing that is wrong with cells from number I on, the first of which is given an X by
/// a cell with the function Before.
template <class A, bool Recorded, class After, class W, class X, std::size_t I, class Before,
          class... Cell>
struct chain_fault {
  using type = no_fault;
};
template <class A, bool Recorded, class After, class W, class X, std::size_t I, class Before,
          class C, class... More>
struct chain_fault<A, Recorded, After, W, X, I, Before, C, More...> {
  using own = std::tuple_element_t<I, W>;
  using in = moved<X, A, C::place>;
  using past = typename slices_of_cell<decltype(C::function)>::past;
  using unmade =
      typename first_of<typename unmade_fault<X>::type, typename unmade_fault<past>::type>::type;
  static constexpr auto find() {
    using meeting = typename decltype(find_meeting<I, Before, decltype(C::function),
                                                   typename C::takes, in>())::type;
    if constexpr (!all_at<A, C::place, typename leaves<own>::type>) {
      return tag<weight_not_on_stage<placed<A, C::place>, own>>{};
    } else if constexpr (I == 0 && any_elsewhere<A, C::place, typename leaves<X>::type>) {
      return tag<input_not_on_stage<placed<A, C::place>, X>>{};
    } else if constexpr (!ok<unmade>) {
      return tag<unmade>{};
    } else if constexpr (!ok<meeting>) {
      return tag<meeting>{};
    } else {
      using here = typed_cell<C::place, decltype(C::function), own, in, Recorded, I == 0,
                              std::conditional_t<sizeof...(More) == 0, After, nothing_more>>;
      if constexpr (!ok<typename here::within>)
        return tag<typename here::within>{};
      else if constexpr (!here::meets)
        return tag<cell_not_callable_with<C, in>>{};
      else if constexpr (!ok<typename here::left_over>)
        return tag<typename here::left_over>{};
      else if constexpr (!here::follows)
        return tag<slice_hands_on_other_type<C>>{};
      else if constexpr (sizeof...(More) == 0 && std::is_same_v<After, nothing_more>)
        return tag<typename unmade_fault<typename here::plain_given>::type>{};
      else
        return tag<typename chain_fault<A, Recorded, After, W, typename here::plain_given, I + 1,
                                        decltype(C::function), More...>::type>{};
    }
  }
  using type = typename decltype(find())::type;
};

}  // namespace dimesh::detail::pipeline
