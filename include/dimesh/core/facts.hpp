// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a tensor's type say of it, as a value? Element, dims, and what each mesh axis does to
// them: all that code below the types is told. Dims are compared by the address of their facts.
//
//   spec_facts<spec<float, layout<pod, split<batch, rows>>, batch>>.layout.axis[0]
//     -> {split, dim 0}
//   spec_facts<S>.dual->layout  -> that of the gradient
#pragma once

#include <string_view>

#include "dimesh/element/element_traits.hpp"
#include "dimesh/layout/dim_facts.hpp"
#include "dimesh/layout/spec.hpp"
#include "dimesh/memory/space.hpp"

namespace dimesh::detail {

/// What gradients must be able to do with numbers of one type (core/real_functions.hpp).
struct real_functions {
  void (*add)(void* y, const void* x, const void* z, index_t n);  // y = x + z
  void (*set_one)(void* to);
};
template <class T> void add_arrays(void* y, const void* x, const void* z, index_t n);
template <class T> void set_one(void* to);
template <class T> inline constexpr real_functions real_functions_of{&add_arrays<T>, &set_one<T>};

struct sketch_value;

/// What all tensors of the same elements on the same mesh have in common, besides numbers: in one
/// place, since each pointer in a program's constants is 24 bytes more for its loader.
struct shared_facts {
  const std::string_view* axes;  // their names
  const index_t* axis_sizes;  // as far as the mesh's type says them
  const std::uint64_t* axis_numbers;
  const real_functions* real;  // null where there is no gradient
};

/// What a tensor's type says.
struct tensor_facts {
  table layout;
  int rank = 0;
  index_t element = 0;  // bytes
  element_kind kind = element_kind::other;
  std::uint64_t type = 0;  // the number of the elements' type
  std::uint64_t mesh = 0;  // its number
  bool moves_by_axis = false;  // its mesh says so
  const space_facts* space = nullptr;  // in which they lie; null: the default one
  bool has_gradient = false;
  bool is_static = true;  // all extents are
  bool at_run_time = false;  // the layout: of a probe
  bool is_open = false;  // and nobody has said it yet
  unsigned partial = 0;  // axes along which there are addends, as a mask
  unsigned ragged = 0;  // dims whose blocks have lengths that only the run knows, likewise
  unsigned placed = 0;  // axes along which the ranks of one coordinate hold it, likewise
  const dim_facts* const* dim = nullptr;
  const shared_facts* shared = nullptr;
  const tensor_facts* dual = nullptr;  // of the gradient
  sketch_value* sketched = nullptr;  // of a probe whose layout is yet to be found (core/sketch.hpp)

  /// The place of an axis of this number in the mesh, -1 where it has none.
  constexpr int axis_of(std::uint64_t number) const {
    for (int a = 0; a < layout.axes; ++a)
      if (shared->axis_numbers[a] == number) return a;
    return -1;
  }
  constexpr const std::string_view& axis_name(int a) const { return shared->axes[a]; }
  /// Ranks along the axes, as far as the mesh's type says them.
  constexpr const index_t* axis_sizes() const { return shared->axis_sizes; }
  constexpr dim_list dims() const { return {dim, rank}; }
  /// The place of a dim, -1 where there is none.
  constexpr int place_of(const dim_facts* d) const { return dims().place_of(d); }
  /// Are these dims those of x, in this order?
  constexpr bool same_dims(const tensor_facts& x) const {
    if (rank != x.rank) return false;
    for (int i = 0; i < rank; ++i)
      if (!same_dim(dim[i], x.dim[i])) return false;
    return true;
  }
  /// Do tensors of this type and of that one, of equal extents, have the same blocks?
  constexpr bool same_blocks(const tensor_facts& x) const {
    if (!std::is_constant_evaluated() && (this == &x || dual == &x)) return true;
    if (!same_dims(x)) return false;
    for (int d = 0; d < rank; ++d)
      if (!layout.splits_alike(d, x.layout)) return false;
    return (placed | x.placed) == 0 || layout.placed_alike(x.layout);
  }
  /// Is it what the same type says in a part of the program that hides its symbols, and so has
  /// facts of its own at other addresses? By numbers; all but the type of elements of a user's.
  constexpr bool same_content(const tensor_facts& x) const {
    if (rank != x.rank || kind != x.kind || element != x.element || mesh != x.mesh) return false;
    for (int i = 0; i < rank; ++i)
      if (dim[i]->number != x.dim[i]->number) return false;
    return layout == x.layout;
  }
};

/// The names of a list of dims or axes, for messages.
template <class List> struct names;
template <class... T> struct names<list<T...>> {
  static constexpr std::string_view at[sizeof...(T) + 1] = {name_of<T>()..., ""};
};

/// And their numbers.
template <class List> struct numbers;
template <class... T> struct numbers<list<T...>> {
  static constexpr std::uint64_t at[sizeof...(T) + 1] = {type_number<T>..., 0};
};

template <class T, class M> constexpr shared_facts make_shared_facts() {
  shared_facts f{names<typename M::axes>::at, M::static_sizes.data(), numbers<typename M::axes>::at,
                 nullptr};
  if constexpr (has_gradient<T>) f.real = &real_functions_of<T>;
  return f;
}
template <class T, class M>
inline constexpr shared_facts shared_facts_of = make_shared_facts<T, M>();

template <class... D> constexpr void enter_dims(tensor_facts& f, list<D...>) {
  f.dim = dim_addresses<list<D...>>::at;
  f.rank = sizeof...(D);
  f.is_static = ((static_extent<D> != dynamic) && ...);
}
/// All but the layout: of elements T on mesh M.
template <class T, class M, class Dims> constexpr tensor_facts make_facts() {
  tensor_facts f;
  f.layout.axes = M::rank;
  enter_dims(f, Dims{});
  f.element = sizeof(T);
  f.kind = element_traits<T>::kind;
  f.type = type_number<T>;
  f.mesh = type_number<M>;
  f.moves_by_axis = moves_by_axis<M>;
  f.space = space_of<M>;
  f.has_gradient = has_gradient<T>;
  f.shared = &shared_facts_of<T, M>;
  return f;
}
template <class T, class M, class Dims>
inline constexpr tensor_facts facts_without_layout = make_facts<T, M, Dims>();

/// Facts whose dims a rule changes.
class facts_of_own_dims : public tensor_facts {
 public:
  constexpr facts_of_own_dims() : tensor_facts() { dim = own_; }
  constexpr facts_of_own_dims(const tensor_facts& f) : tensor_facts(f) { own(f); }  // NOLINT
  constexpr facts_of_own_dims(const facts_of_own_dims& f) : tensor_facts(f) { own(f); }
  constexpr facts_of_own_dims& operator=(const facts_of_own_dims& f) {
    tensor_facts::operator=(f);
    own(f);
    return *this;
  }
  constexpr void set_dim(int d, const dim_facts* to) { own_[d] = to; }
  constexpr void add_dim(const dim_facts* d) { own_[rank++] = d; }

 private:
  constexpr void own(const tensor_facts& f) {
    for (int d = 0; d < f.rank; ++d) own_[d] = f.dim[d];
    dim = own_;
  }
  const dim_facts* own_[max_dims]{};
};

/// Dims that are ragged, as a mask.
constexpr unsigned ragged_dims(const table& t) {
  unsigned m = 0;
  for (int d = 0; d < max_dims; ++d)
    if (t.ragged[d]) m |= 1u << d;
  return m;
}
constexpr tensor_facts facts_with(tensor_facts f, const table& t, bool at_run_time,
                                  const tensor_facts* dual) {
  f.layout = t;
  f.at_run_time = f.is_open = at_run_time;
  f.partial = t.mask(use::partial);
  f.placed = t.mask(use::placed);
  f.ragged = ragged_dims(t);
  f.dual = dual;
  return f;
}

/// What the type of a tensor of spec S says, and that of its gradient. One object, whose parts know
/// each other's place.
struct facts_and_dual {
  tensor_facts own, dual;
};
constexpr facts_and_dual make_pair_of_facts(const tensor_facts& f, const table& t,
                                            const facts_and_dual* at, bool at_run_time) {
  return {facts_with(f, t, at_run_time, &at->dual),
          facts_with(f, dual_of(t), at_run_time, &at->own)};
}
template <class S>
inline constexpr facts_and_dual facts_pair = make_pair_of_facts(
    facts_without_layout<typename S::value_type, typename S::mesh, typename S::dims>, S::table,
    &facts_pair<S>, false);
/// Of a probe of which nothing is known yet: replicated.
template <class T, class M, class... D>
inline constexpr facts_and_dual facts_pair<spec<T, layout<M, at_run_time>, D...>> =
    make_pair_of_facts(facts_without_layout<T, M, list<D...>>,
                       facts_without_layout<T, M, list<D...>>.layout,
                       &facts_pair<spec<T, layout<M, at_run_time>, D...>>, true);

template <class S> inline constexpr const tensor_facts& spec_facts = facts_pair<S>.own;

}  // namespace dimesh::detail
