// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a stencil's function see of a tensor? An element and its neighbours, by name and
// distance. The same function runs on values, on dual numbers, and once to tell which neighbours it
// reads.
//
//   at<row, col>(u, -1, 0)   -> the element one row up
//   at<>(u)                  -> the element itself
#pragma once

#include <vector>

#include "dimesh/core/tracked.hpp"
#include "dimesh/core/user_function.hpp"
#include "dimesh/detail/words.hpp"
#include "dimesh/local/dual.hpp"
#include "dimesh/op/parts/look_fault.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh {

namespace detail {

/// What a stencil's function may know of an operand: its elements, its dims as they are stored, and
/// which of these have halos (bit d). Not how they are split, so that functions and kernels are
/// compiled once for all layouts.
template <class T, class Dims, unsigned Halos> struct seen_tensor {
  using value_type = T;
  using dims = Dims;
  static constexpr int rank = Dims::size;
  static constexpr unsigned halos = Halos;
};
constexpr unsigned dims_with_halos(const table& t, int rank) {
  unsigned mask = 0;
  for (int d = 0; d < rank; ++d) mask |= t.halo[d].any() ? 1u << d : 0u;
  return mask;
}
template <class S>
using seen_of =
    seen_tensor<typename S::value_type, typename S::dims, dims_with_halos(S::table, S::rank)>;

[[noreturn]] inline void refuse_probed_stencil(std::string_view call) {
  (words() << call
           << ": an operand is a probe, and how far a stencil sees is said by its operands' types; "
              "count it on shapes whose layout is a type")
      .raise();
}

/// Of what carries no halos at all: one mistake, however many neighbours are looked at.
template <class... D> constexpr void refuse_bare_blocks(list<D...>) {
  static_assert(ok<dim_has_no_halo<D...>>,
                "at: the tensor carries no halos, so no neighbours; exchange them first, with a "
                "width and dims: halo_exchange<1, row, col>(x)");
}
/// How far neighbours are apart in memory: the strides of a stored block, the last of them 1.
template <class V> struct distances {
  index_t stride[V::rank + 1] = {};

  template <class D> KOKKOS_FORCEINLINE_FUNCTION constexpr index_t along() const {
    if constexpr (index_of<D, typename V::dims> == V::rank - 1)
      return 1;
    else
      return stride[index_of<D, typename V::dims>];
  }
  template <class... D, class... I>
  KOKKOS_FORCEINLINE_FUNCTION constexpr index_t offset(I... by) const {
    return (index_t{0} + ... + (static_cast<index_t>(by) * along<D>()));
  }
};

template <class... U> constexpr poison refuse_accessor() {
  static_assert(ok<std::conditional_t<(sizeof...(U) > 99), no_fault, element_not_named<U...>>>,
                "stencil: the function is given an accessor, no number; take an element out of it: "
                "at<>(u), or a neighbour: at<dim>(u, 1)");
  return {};
}

/// An element of a block and its neighbours, as values: of the type that is computed in.
template <class V> struct seen_values {
  using tensor = V;
  using value = computed<typename V::value_type>;
  const typename V::value_type* here;
  distances<V> far;
  template <class... I> constexpr poison operator()(const I&...) const {
    return refuse_accessor<value>();
  }
  template <class I> constexpr poison operator[](const I&) const {
    return refuse_accessor<value>();
  }
  template <class... D, class... I> KOKKOS_FORCEINLINE_FUNCTION value get(I... by) const {
    return here[far.template offset<D...>(by...)];
  }
};

/// The same as dual numbers: the neighbour at a distance in memory is the variable.
template <class V> struct seen_duals {
  using tensor = V;
  using T = computed<typename V::value_type>;
  using value = dual<T, 1>;
  const typename V::value_type* here;
  distances<V> far;
  index_t variable;
  template <class... D, class... I> KOKKOS_FORCEINLINE_FUNCTION value get(I... by) const {
    const index_t away = far.template offset<D...>(by...);
    value v(static_cast<T>(here[away]));
    v.partial[0] = away == variable ? T(1) : T(0);
    v.active = 1u;
    return v;
  }
};

/// Throws dimesh::error where a neighbour is asked for that no halo holds.
template <class V> struct seen_in_reach {
  using tensor = V;
  using value = computed<typename V::value_type>;
  const halo_widths* halo;
  value element;
  template <class... D, class... I> value get(I... by) const {
    (check<D>(static_cast<index_t>(by)), ...);
    return element;
  }

 private:
  template <class D> void check(index_t by) const {
    const halo_widths& has = halo[index_of<D, typename V::dims>];
    const index_t width = by > 0 ? has.after : has.before;
    if (by > width || -by > width)
      (words() << "stencil: the function reads the neighbour at " << by << " along " << name_of<D>()
               << ", and blocks carry a halo of " << width
               << (has.is_even() ? ""
                   : by > 0      ? " after them"
                                 : " before them")
               << "; exchange one of " << (by > 0 ? by : -by))
          .raise();
  }
};

/// Writes down which neighbours are asked for.
template <class V> struct seen_nothing {
  using tensor = V;
  using value = computed<typename V::value_type>;
  distances<V> far;
  std::vector<index_t>* asked;
  template <class... D, class... I> value get(I... by) const {
    const index_t away = far.template offset<D...>(by...);
    for (const index_t known : *asked)
      if (known == away) return value(1);
    asked->push_back(away);
    return value(1);
  }
};
/// Never run: numbers that do not say what they are. A function that asks for other neighbours
/// where an element is greater could not be seen through by asking it once.
template <class V> struct seen_unread {
  using tensor = V;
  using value = dual<computed<typename V::value_type>, looking>;
  template <class... D, class... I> value get(I...) const { return value(1); }
};

/// What X sees, as dual numbers whose derivatives are what W sees: all neighbours move at once.
template <class G, class X, class W> struct seen_moving {
  using tensor = typename X::tensor;
  using value = dual<G, 1>;
  X x;
  W w;
  template <class... D, class... I> KOKKOS_FORCEINLINE_FUNCTION value get(I... by) const {
    value v(G(x.template get<D...>(by...)));
    v.partial[0] = G(w.template get<D...>(by...));
    v.active = 1u;
    return v;
  }
};
/// What X sees, as dual numbers that do not move; other than real numbers as they are.
template <class G, class X> struct seen_still {
  using tensor = typename X::tensor;
  using value =
      std::conditional_t<is_real<typename tensor::value_type>, dual<G, 1>, typename X::value>;
  X x;
  template <class... D, class... I> KOKKOS_FORCEINLINE_FUNCTION value get(I... by) const {
    if constexpr (is_real<typename tensor::value_type>)
      return value(G(x.template get<D...>(by...)));
    else
      return x.template get<D...>(by...);
  }
};

/// What a stencil's function is given, and not what `at` takes out of it.
template <class U>
concept Seen = requires {
  typename U::tensor::dims;
  typename U::value;
};
template <class U> struct brief_type {
  using type = U;
};
template <Seen U> struct brief_type<U> {
  using type = typename U::value;
};
template <class U> using brief = typename brief_type<U>::type;
template <class A, class B>
  requires(Seen<A> || Seen<B>)
constexpr poison operator+(const A&, const B&) {
  return refuse_accessor<brief<A>, brief<B>>();
}
template <class A, class B>
  requires(Seen<A> || Seen<B>)
constexpr poison operator-(const A&, const B&) {
  return refuse_accessor<brief<A>, brief<B>>();
}
template <class A, class B>
  requires(Seen<A> || Seen<B>)
constexpr poison operator*(const A&, const B&) {
  return refuse_accessor<brief<A>, brief<B>>();
}
template <class A, class B>
  requires(Seen<A> || Seen<B>)
constexpr poison operator/(const A&, const B&) {
  return refuse_accessor<brief<A>, brief<B>>();
}
template <Seen A> constexpr poison operator-(const A&) { return refuse_accessor<brief<A>>(); }
template <class A, class B>
  requires(Seen<A> || Seen<B>)
constexpr bool operator<(const A&, const B&) {
  return refuse_accessor<brief<A>, brief<B>>();
}
template <class A, class B>
  requires(Seen<A> || Seen<B>)
constexpr bool operator>(const A&, const B&) {
  return refuse_accessor<brief<A>, brief<B>>();
}

/// What a stencil's function is given of X.
template <class X> using seen_in = seen_values<seen_of<spec_of<X>>>;

/// The same where its gradient is wanted: what the function looks at.
template <class X>
using seen_back = std::conditional_t<is_tracked<X> && is_real<value_of<X>>,
                                     seen_unread<seen_of<spec_of<X>>>, seen_in<X>>;

/// What is wrong with a function of what is seen of X... that gives R of elements, and D of what
/// only looks.
template <class R, class D, class F, class... X>
struct stencil_function_fault : result_fault<std::conditional_t<Seen<R>, void, R>> {};
template <class R, class F, class... X> struct stencil_function_fault<R, not_called, F, X...> {
  using type = function_takes_plain_only<F>;
};
template <class D, class F, class... X>
struct stencil_function_fault<not_called, D, F, X...> : no_call<F, seen_in<X>...> {};
template <class F, class... X>
struct stencil_function_fault<not_called, not_called, F, X...> : no_call<F, seen_in<X>...> {};

}  // namespace detail

/// The neighbour at these distances along D..., each at most the width of the halo. Dims that are
/// not named stay where they are.
template <Dim... D, detail::Seen U, class... I>
KOKKOS_FORCEINLINE_FUNCTION auto at(const U& u, I... by) {
  using fault = typename detail::look_fault<typename U::tensor, D...>::type;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "at: the tensor lacks this dim; name one of its dims");
  constexpr bool bare = U::tensor::halos == 0 && !ok<only<fault, dim_has_no_halo>>;
  static_assert(ok<std::conditional_t<bare, no_fault, only<fault, dim_has_no_halo>>>,
                "at: the tensor has no halo along this dim, so no neighbours; call halo_exchange "
                "first, or leave the dim out");
  if constexpr (bare) detail::refuse_bare_blocks(typename U::tensor::dims{});
  constexpr bool one_each = sizeof...(D) == sizeof...(I);
  static_assert(one_each, "at: one distance is needed for each dim; give as many");
  static_assert((std::is_integral_v<I> && ...),
                "at: distances are whole numbers; the element at 1 is the next one");
  if constexpr (ok<fault> && one_each && (std::is_integral_v<I> && ...))
    return u.template get<D...>(by...);
  else
    return poison{};
}
/// Outside of such a function there is nothing to look at.
template <class... D, Operand X, class... I> constexpr poison at(const X&, const I&...) {
  static_assert(ok<std::conditional_t<is_poison<X>, no_fault, not_by_element<X>>>,
                "at: it looks around in the function given to stencil; broadcast_element(x, {3, "
                "4}) gives one element of a tensor to every rank");
  return {};
}

}  // namespace dimesh
