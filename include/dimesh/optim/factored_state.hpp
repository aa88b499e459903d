// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does Adafactor keep of a parameter? Of a tensor with two dims or more, averages over each of
// two of its dims, under the layouts that the parameter's own leaves for the remaining dims; of a
// vector, an average for each element. Memory: rows + columns in place of rows x columns.
//
//   factored_state<tensor<float, layout<pod, split<hidden, cols>>, model, hidden>>
//     -> tuple<tensor<float, layout<pod>, model>,                       rows: means over hidden
//              tensor<float, layout<pod, split<hidden, cols>>, hidden>, columns: means over model
//              tensor<float, layout<pod>>>                              of both
#pragma once

#include <tuple>
#include <vector>

#include "dimesh/detail/number_given.hpp"
#include "dimesh/optim/own_places.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh {

/// The places of the two dims that are factored: the two largest (of equals the later ones) if all
/// extents are static, else the last two. Specialise it to choose others; first < second.
template <Tensor X> struct factored_dims {
 private:
  struct places {
    int first, second;
  };
  template <class... D> static constexpr places find(detail::list<D...>) {
    constexpr index_t extent[] = {static_extent<D>...};
    constexpr int n = sizeof...(D);
    int one = n - 1, two = n - 2;
    if (((static_extent<D> != dynamic) && ...)) {
      for (int d = n - 2; d >= 0; --d)
        if (extent[d] > extent[one]) one = d;
      two = one == n - 1 ? n - 2 : n - 1;
      for (int d = n - 1; d >= 0; --d)
        if (d != one && extent[d] > extent[two]) two = d;
    }
    return one < two ? places{one, two} : places{two, one};
  }
  static constexpr places found = find(typename spec_of<X>::dims{});

 public:
  static constexpr int first = found.first, second = found.second;
};

namespace detail {

/// X without the dims at places P and Q.
template <class X, int P, int Q> struct tensor_without {
  using dims = typename spec_of<X>::dims;
  template <class D>
  using kept =
      std::conditional_t<index_of<D, dims> == P || index_of<D, dims> == Q, list<>, list<D>>;
  template <class... D> static constexpr auto drop(list<D...>) {
    return with(typename concat_impl<list<>, kept<D>...>::type{});
  }
  template <class... D> static constexpr auto with(list<D...>) {
    return tag<tensor<value_of<X>, typename X::layout_type, D...>>{};
  }
  using type = typename decltype(drop(dims{}))::type;
};

template <class X> struct factors {
  using type = std::tuple<X>;
};
template <class X>
  requires(X::rank >= 2)
struct factors<X> {
  using at = factored_dims<X>;
  using type = std::tuple<typename tensor_without<X, at::second, -1>::type,
                          typename tensor_without<X, at::first, -1>::type,
                          typename tensor_without<X, at::first, at::second>::type>;
};

/// The same for structs: arrays and vectors stay what they are, all else becomes tuples.
template <class S> struct factored_form {
  template <class... E> static constexpr auto parts(list<E...>) {
    return tag<std::tuple<typename factored_form<E>::type...>>{};
  }
  static constexpr auto find() {
    using kind = sequence_kind<S>;
    if constexpr (Tensor<S>)
      return tag<typename factors<S>::type>{};
    else if constexpr (kind::array)
      return tag<std::array<typename factored_form<typename S::value_type>::type, kind::size>>{};
    else if constexpr (kind::vector)
      return tag<std::vector<typename factored_form<typename S::value_type>::type>>{};
    else if constexpr (has_parts<S>)
      return parts(part_types<S>{});
    else
      return tag<std::tuple<>>{};
  }
  using type = typename decltype(find())::type;
};

/// The first parameter of complex numbers: rows and columns of squares are real.
template <class Leaves> struct complex_parameter_fault {
  using type = no_fault;
};
template <class P, class... Rest>
struct complex_parameter_fault<list<P, Rest...>> : complex_parameter_fault<list<Rest...>> {};
template <class P, class... Rest>
  requires(is_complex<value_of<P>>)
struct complex_parameter_fault<list<P, Rest...>> {
  using type = parameter_is_complex<value_of<P>>;
};

}  // namespace detail

/// What is kept of a tensor, or of all tensors of a struct (arrays, vectors
/// and tuples of tensors).
template <class P> using factored_state = typename detail::factored_form<P>::type;

namespace detail {
/// Throws dimesh::error where a number of an adafactor is negative or not finite (what clips may be
/// infinite), or beta1 not below 1.
template <class Optimizer> void require_numbers(const Optimizer& o) {
  require_not_negative("adafactor", "rate", o.rate);
  require_not_negative("adafactor", "power of decay", o.decay_power);
  require_limit("adafactor", "clip", o.clip);
  require_kept_part("adafactor", "beta1", o.beta1);
  require_not_negative("adafactor", "epsilon1", o.epsilon1);
  require_not_negative("adafactor", "epsilon2", o.epsilon2);
}
/// Factors of p, of zeros; none where its grid is of other ranks.
template <class X, class Factors> void make_factors(const X& p, Factors& factors) {
  if (is_absent(core_of(p))) return;
  const auto make = [&p](auto& f) {
    f = std::remove_cvref_t<decltype(f)>(p.grid(), p.shape(), cuts_like(core_of(p)));
    const in_space there(core_of(f).facts->space);
    zero_bytes(f.data(), f.local_bytes());
  };
  std::apply([&make](auto&... f) { (make(f), ...); }, factors);
}

/// Throws dimesh::error unless the averages that are kept are those of these parameters, and so is
/// the momentum; null: none is asked for. Tensors with data.
template <class P>
void require_factors(const P& parameters, const factored_state<P>& kept, const P* momentum) {
  for_each_tensor(
      [](const auto&, const auto& p, const auto& factors) {
        if (is_absent(core_of(p))) return;
        const auto require = [&p](const tensor_core& factor) {
          require_extents_of("adafactor", core_of(p), factor);
        };
        std::apply([&require](const auto&... factor) { (require(core_of(factor)), ...); }, factors);
      },
      parameters, kept);
  if (momentum == nullptr) return;
  const core_list<P> to(parameters), m(*momentum);
  for (int i = 0; i < to.size; ++i) {
    if (is_absent(*to.at[i])) continue;
    if (is_absent(*m.at[i]))
      throw error(
          "adafactor: beta1 is more than 0, and the state has no momentum; let an optimizer with "
          "that beta1 start it");
    require_place_of("adafactor", *to.at[i], *m.at[i]);
  }
}
}  // namespace detail

}  // namespace dimesh
