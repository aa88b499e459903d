// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do all tensors of one type offer, with data, recorded, or without? Extents and blocks by the
// names of their dims.
//
//   x.extent<batch>() -> 256   x.block<batch>() -> {128, 128}   x.local<batch>() -> 128
#pragma once

#include "dimesh/core/any_argument.hpp"
#include "dimesh/core/members_elsewhere.hpp"
#include "dimesh/core/tensor_core.hpp"

namespace dimesh::detail {

template <class X, class... I> constexpr poison refuse_elements() {
  static_assert(ok<std::conditional_t<(sizeof...(I) > 99), no_fault, not_by_element<X>>>,
                "tensor: elements are not reached one by one; broadcast_element(x, {3, 4}) gives "
                "one to every rank, to_rank(x) all to one rank, data() this rank's block");
  return {};
}

template <class X, class I> constexpr poison refuse_selection() {
  static_assert(ok<std::conditional_t<(sizeof(I*) > 99), no_fault, not_by_element<X>>>,
                "tensor: no tensor stands in brackets; rows of a table are take<dim>(x, ids), and "
                "elements where a mask holds select(mask, x, 0)");
  return {};
}

/// What a loop can go over in silence, and no range is made of.
struct looped {
  poison operator*() const { return {}; }
  looped& operator++() { return *this; }
  bool operator!=(looped) const { return false; }
};

template <class Spec> class typed_core;
/// What lies below a tensor's type. One function for all kinds of tensors of a spec.
template <class Spec> constexpr tensor_core& core_of(typed_core<Spec>& x);
template <class Spec> constexpr const tensor_core& core_of(const typed_core<Spec>& x);

/// A core with the type that says what it is.
template <class Spec> class typed_core : protected tensor_core, public members_elsewhere {
  friend struct core_access;
  friend constexpr tensor_core& core_of<Spec>(typed_core& x);
  friend constexpr const tensor_core& core_of<Spec>(const typed_core& x);

 public:
  using spec_type = Spec;
  using value_type = typename Spec::value_type;
  using mesh_type = typename Spec::mesh;
  using layout_type = typename Spec::layout;
  using shape_type = typename Spec::shape_type;
  static constexpr int rank = Spec::rank;
  // What is said of these is said where one is used, and called or not.
  static constexpr poison T = refuse_transpose<Spec>(), grad = refuse_gradient<Spec>();

  [[gnu::always_inline]] constexpr typed_core() : tensor_core(&spec_facts<Spec>) {}
  // No functions of their own for each type, in builds that do not optimise either.
  [[gnu::always_inline]] constexpr typed_core(const typed_core&) = default;
  [[gnu::always_inline]] constexpr typed_core(typed_core&&) = default;
  [[gnu::always_inline]] constexpr typed_core& operator=(const typed_core&) = default;
  [[gnu::always_inline]] constexpr typed_core& operator=(typed_core&&) = default;
  [[gnu::always_inline]] constexpr ~typed_core() = default;
  /// What was made of a core of this type.
  [[gnu::always_inline]] constexpr explicit typed_core(const tensor_core& x) : tensor_core(x) {
    say_type();
  }
  [[gnu::always_inline]] constexpr explicit typed_core(tensor_core&& x)
      : tensor_core(std::move(x)) {
    say_type();
  }

  using members_elsewhere::shape;  // of a number
  [[nodiscard]] constexpr shape_type shape() const { return shape_type::of(runs.extents()); }
  /// Global extent of D.
  template <class D> [[nodiscard]] constexpr index_t extent() const {
    if constexpr (!has_dim<D>())
      return 0;
    else if constexpr (is_static_dim<D>)
      return static_extent<D>;
    else
      return runs.extents()[place_of<D>];
  }
  /// Extents are those of dims, not of numbers.
  template <class N> poison extent(const N&) const {
    static_assert(ok<wrong_arguments<N>>,
                  "tensor: the dim that is asked for stands in the angle brackets, and nothing in "
                  "the parentheses: x.extent<batch>(), x.local<batch>(), x.block<batch>()");
    return {};
  }
  template <class... No>
    requires(sizeof...(No) == 0)
  constexpr index_t extent() const {
    static_assert(
        ok<not_a_dim<nothing<No...>>>,
        "tensor: the dim that is asked for stands in the angle brackets: "
        "x.extent<batch>(), x.local<batch>(), x.block<batch>(); x.local_size() counts all "
        "elements");
    return 0;
  }
  template <class... No>
    requires(sizeof...(No) == 0)
  constexpr index_t local() const {
    return extent<No...>();
  }
  template <class... No>
    requires(sizeof...(No) == 0)
  constexpr dimesh::block block() const {
    return {0, extent<No...>()};
  }
  template <Dim D> poison local(const D& d) const { return extent(d); }
  template <Dim D> poison block(const D& d) const { return extent(d); }
  /// The run of D's elements that this rank holds (its own: halo not counted).
  template <class D> [[nodiscard]] constexpr dimesh::block block() const {
    if constexpr (!has_dim<D>())
      return {};
    else
      return own(place_of<D>);
  }
  [[nodiscard]] constexpr dimesh::block block(int d) const { return own(d); }
  /// How many elements of D this rank stores (halo counted).
  template <class D> [[nodiscard]] constexpr index_t local() const {
    if constexpr (!has_dim<D>())
      return 0;
    else if constexpr (fixed_length<D>() != dynamic)
      return fixed_length<D>();
    else
      return tensor_core::local(place_of<D>);
  }
  [[nodiscard]] constexpr index_t local(int d) const { return tensor_core::local(d); }
  /// Elements between neighbours along dim d of this rank's block.
  constexpr index_t stride(int d) const { return tensor_core::stride(d); }
  constexpr block_view blocks() const { return tensor_core::blocks(); }
  /// How many elements this rank stores.
  [[nodiscard]] constexpr index_t local_size() const {
    if (this->away != 0) return 0;
    return product(typename Spec::dims{});
  }
  constexpr index_t local_bytes() const {
    return local_size() * static_cast<index_t>(sizeof(value_type));
  }

  // What one may try on an array, and what to write here.
  template <class... I> constexpr poison operator()(const I&...) const {
    return refuse_elements<tag<Spec>, I...>();
  }
  template <class I> constexpr poison operator[](const I&) const {
    if constexpr (requires { typename I::spec_type; })
      return refuse_selection<tag<Spec>, I>();
    else
      return refuse_elements<tag<Spec>, I>();
  }
  template <class No = void> looped begin() const {
    (void)refuse_elements<tag<Spec>, No>();
    return {};
  }
  template <class No = void> looped end() const { return {}; }
  template <class B>
    requires std::is_same_v<B, bool>
  constexpr explicit operator B() const {
    static_assert(ok<std::conditional_t<std::is_void_v<B>, no_fault, not_by_element<Spec>>>,
                  "tensor: a tensor is no truth value; reduce it (sum, max), complete it, and ask "
                  "value(x)");
    return false;
  }

  template <class N>
    requires(Spec::rank == 0 && std::is_arithmetic_v<N> && !std::is_same_v<N, bool>)
  operator N() const {  // NOLINT: where a number is declared; not constexpr, as in tensor.hpp
    static_assert(ok<std::conditional_t<std::is_void_v<N>, no_fault, not_by_element<Spec>>>,
                  "tensor: a tensor without dims is no number yet; complete it, and ask value(x)");
    return N{};
  }

  /// Partial axes along which every rank holds the whole value, to be counted once.
  constexpr unsigned once() const { return tensor_core::once; }
  constexpr void set_once(unsigned axes) { tensor_core::once = axes; }

 private:
  template <class D> static constexpr bool has_dim() {
    using fault = std::conditional_t<
        !Dim<D>, not_a_dim<D>,
        std::conditional_t<(index_of<D, typename Spec::dims> < 0), dim_not_in_tensor<D>, no_fault>>;
    static_assert(ok<only<fault, not_a_dim>>,
                  "tensor: extent, local and block are asked of a dim; name one of the tensor's");
    static_assert(ok<only<fault, dim_not_in_tensor>>,
                  "tensor: extent, local and block are asked of a dim that the tensor lacks; name "
                  "one of its own");
    return ok<fault>;
  }
  /// Facts made elsewhere, of the same content, give way to the type's own; a probe has no others.
  constexpr void say_type() {
    if constexpr (!is_at_run_time<layout_type>) facts = &spec_facts<Spec>;
  }
  template <class D> static constexpr index_t fixed_length() {
    if constexpr (is_at_run_time<layout_type>)
      return dynamic;
    else
      return static_block_length<Spec, D>();
  }
  template <Dim D> static constexpr int place_of = index_of<D, typename Spec::dims>;
  template <class... D> constexpr index_t product(list<D...>) const {
    return (index_t{1} * ... * this->template local<D>());
  }
};

template <class Spec> [[gnu::always_inline]] constexpr tensor_core& core_of(typed_core<Spec>& x) {
  return x;
}
template <class Spec>
[[gnu::always_inline]] constexpr const tensor_core& core_of(const typed_core<Spec>& x) {
  return x;
}

/// Extents and blocks alone, of the rank at some coordinates of a mesh of some sizes.
template <class Spec> class geometry : public typed_core<Spec> {
 public:
  /// Throws dimesh::error when a run-time extent is missing or cannot be cut evenly.
  constexpr geometry(const typename Spec::shape_type& s, const index_t* sizes,
                     const index_t* coords, const cut_list& where = {}) {
    this->cuts = where;
    const auto extents = s.extents();
    this->runs.resize(Spec::rank);
    for (int d = 0; d < Spec::rank; ++d)
      this->runs.extents()[d] = extents[static_cast<std::size_t>(d)];
    work_out_blocks(*this->facts, this->runs.extents(), sizes, coords, this->runs.own(),
                    where.first());
  }
};

/// The grid of a tensor, with its type.
template <class M> const dimesh::grid<M>& grid_of(const tensor_core& x) {
  return *static_cast<const dimesh::grid<M>*>(x.grid_object);
}

}  // namespace dimesh::detail
