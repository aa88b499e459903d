// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which rank stands where? A grid binds a mesh to the ranks of an MPI communicator, row-major (the
// last axis fastest), and keeps a sub-communicator for every set of axes. It must outlive its
// tensors.
//
//   grid<pod> g;                    // MPI_COMM_WORLD; one axis without a size takes what is left
//   grid<pod> g(comm, cols{4});     // sizes in any order
//   g.coord<cols>()                 -> this rank's place along cols
#pragma once

#include <initializer_list>

#include "dimesh/detail/grid_state.hpp"
#include "dimesh/memory/space.hpp"

namespace dimesh {

namespace detail {

/// What was meant for a mesh, or a mesh without axes: one mistake, one error.
template <class M> using mesh_of_grid = std::conditional_t<Mesh<M>, M, dimesh::mesh<>>;

/// The place of an axis in a mesh, in what a grid offers; 0 where it has none.
template <class M, class A> constexpr int place_on_grid() {
  using fault = std::conditional_t<
      !Axis<A>, std::conditional_t<Mesh<A>, wrong_arguments<A>, not_an_axis<A>>,
      std::conditional_t<(axis_index<M, A> < 0), axis_not_in_mesh<A, M>, no_fault>>;
  static_assert(ok<only<fault, not_an_axis>>,
                "grid: an axis is wanted here; name one of the mesh, and give sizes as cols{4}");
  static_assert(ok<only<fault, wrong_arguments>>,
                "grid: the mesh stands in the angle brackets, a communicator and sizes in the "
                "parentheses: grid<pod> g(comm); elsewhere an axis is wanted: g.size<rows>()");
  static_assert(ok<only<fault, axis_not_in_mesh>>,
                "grid: this axis is not in the mesh; add it to the mesh, or name one of its own");
  return ok<fault> ? axis_index<M, A> : 0;
}

template <class... No> poison refuse_unnamed() {
  static_assert(ok<not_an_axis<list<No...>>>,
                "grid: sizes and places are those of an axis: g.size<rows>(), g.coord<rows>(); "
                "of all ranks they are g.ranks() and g.rank()");
  return {};
}

template <class N> poison refuse_number() {
  static_assert(ok<not_an_axis<N>>,
                "grid: axes are named, not numbered; write the axis in angle brackets: "
                "g.size<rows>(), g.coord<rows>()");
  return {};
}

}  // namespace detail

/// A mesh on the ranks of a communicator.
template <class Of> class grid {
  using M = detail::mesh_of_grid<Of>;

 public:
  using mesh = M;

  /// Over MPI_COMM_WORLD; sizes of axes that have none of their own: grid<pod>(cols{4}).
  template <class... A>
  explicit grid(const A&... sizes)
      : grid(MPI_COMM_WORLD, given({detail::place_on_grid<M, A>()...}, sizes...)) {}

  /// Over `comm` (duplicated); collective, with the same sizes on all ranks. Throws dimesh::error
  /// on every rank if they do not multiply to its number of ranks.
  template <class... A>
  explicit grid(MPI_Comm comm, const A&... sizes)
      : grid(comm, given({detail::place_on_grid<M, A>()...}, sizes...)) {}

  /// No list: of numbers nobody knows whose sizes they are.
  template <class N>
    requires std::is_arithmetic_v<N>
  explicit grid(std::initializer_list<N>) : grid(MPI_COMM_WORLD, sizes_type{}) {
    (void)detail::place_on_grid<M, N>();
  }

  grid(const grid&) = delete;
  grid& operator=(const grid&) = delete;
  ~grid() { state_.end(); }

  /// How many ranks lie along A, and where among them this rank does.
  template <class A> [[nodiscard]] index_t size() const {
    return state_.sizes()[detail::place_on_grid<M, A>()];
  }
  template <class A> [[nodiscard]] index_t coord() const {
    return state_.coords()[detail::place_on_grid<M, A>()];
  }
  /// Where an axis is named by a number, or not at all.
  template <class N> poison size(const N&) const { return detail::refuse_number<N>(); }
  template <class N> poison coord(const N&) const { return detail::refuse_number<N>(); }
  template <index_t N> poison size() const {
    return detail::refuse_number<std::integral_constant<index_t, N>>();
  }
  template <index_t N> poison coord() const {
    return detail::refuse_number<std::integral_constant<index_t, N>>();
  }
  template <class... No>
    requires(sizeof...(No) == 0)
  poison size() const {
    return detail::refuse_unnamed<No...>();
  }
  template <class... No>
    requires(sizeof...(No) == 0)
  poison coord() const {
    return detail::refuse_unnamed<No...>();
  }
  [[nodiscard]] int rank() const { return everyone().rank(); }
  [[nodiscard]] int ranks() const { return everyone().size(); }
  const detail::communicator& everyone() const { return state_.along((1u << M::rank) - 1); }
  /// The communicator of the ranks that differ from this one along A... only.
  template <class... A> [[nodiscard]] MPI_Comm along() const {
    return state_.along(((1u << detail::place_on_grid<M, A>()) | ... | 0u)).handle();
  }
  const detail::grid_state& state() const { return state_; }

 private:
  using sizes_type = std::array<index_t, M::rank>;
  grid(MPI_Comm comm, sizes_type sizes)
      : state_(detail::grid_state::make(comm, std::string(detail::name_of<M>()), mesh_number<M>,
                                        detail::names_of(typename M::axes{}), sizes.data())) {}

  template <class... A>
  static sizes_type given(const std::array<int, sizeof...(A)>& places, const A&... a) {
    sizes_type sizes = M::static_sizes;
    [[maybe_unused]] const int* place = places.data();
    (give(sizes, *place++, a), ...);
    return sizes;
  }
  template <class A>
  static void give([[maybe_unused]] sizes_type& sizes, [[maybe_unused]] int place, const A& a) {
    if constexpr (Axis<A>) {
      const index_t ranks = detail::number_in(a);
      if (static_size<A> != dynamic && ranks != static_size<A>)
        detail::refuse_size(detail::name_of<A>(), detail::name_of<M>(), ranks, static_size<A>);
      index_t& own = sizes[static_cast<std::size_t>(place)];
      if (own != dynamic && ranks != own)
        detail::refuse_second_size(detail::name_of<A>(), own, ranks);
      own = ranks;
    }
  }

  detail::grid_state& state_;

  // Last: clang leaves out what follows a failed assertion.
  static_assert(ok<std::conditional_t<Mesh<Of>, no_fault, not_a_mesh<Of>>>,
                "grid: a grid is that of a mesh; name a struct that derives from mesh<axes...>");
  static_assert(ok<typename detail::named_space_fault<Of>::type>,
                "grid: the mesh names a space that is none; say `using space = host_space`, or a "
                "memory space of Kokkos");
};

// A mesh among the arguments: a sentence of the constructor's.
template <Mesh M> grid(MPI_Comm, const M&) -> grid<M>;
template <Mesh M> grid(const M&) -> grid<M>;

}  // namespace dimesh
