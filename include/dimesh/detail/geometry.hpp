// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How large is the part of a tensor that one rank holds, and where does it begin? Worked out once,
// when the tensor is made, for its shape and the rank's coordinates. Holds no data.
//
//   geometry<spec<float, layout<pod, split<batch, rows>>, batch>>  on coordinate 1 of 2
//     .extent<batch>() -> 256   .block<batch>() -> {128, 128}   .local<batch>() -> 128
#pragma once

#include <array>

#include "dimesh/block.hpp"
#include "dimesh/detail/name.hpp"
#include "dimesh/detail/words.hpp"

namespace dimesh::detail {

/// The names of a list of dims or axes, for messages.
template <class List> struct names;
template <class... T> struct names<list<T...>> {
  static constexpr std::string_view at[sizeof...(T) + 1] = {name_of<T>()..., ""};
};

/// Says which dim has no extent, or cannot be cut evenly. One function for all tensors: messages
/// cost code.
[[noreturn]] inline void refuse_extent(const table& t, int d, index_t n, const index_t* sizes,
                                       const std::string_view* dims, const std::string_view* axes) {
  words w;
  w << "tensor: dim '" << dims[d] << "' has ";
  if (n < 0) {
    if (n == dynamic)
      w << "no extent";
    else
      w << n << " elements";
    w << "; give it " << dims[d] << "{n} with n >= 0";
  } else {
    w << n << " elements, which ";
    for (int level = 0, a = 0; (a = t.axis_at(d, level)) >= 0; ++level)
      w << (level > 0 ? " x axis '" : "axis '") << axes[a] << "' of size " << sizes[a];
    w << " does not divide; choose another extent or split uneven<" << dims[d] << ">";
  }
  w.raise();
}

/// What a tensor's type says of its blocks, for functions that serve tensors of all types.
struct geometry_facts {
  const table* t;
  int rank;
  index_t element;  // bytes
  const std::string_view* dims;
  const std::string_view* axes;
};

/// The blocks of all dims at some coordinates. Out of line: every tensor that is made comes by.
[[gnu::noinline]] constexpr void work_out_blocks(const geometry_facts& f, const index_t* extents,
                                                 const index_t* sizes, const index_t* coords,
                                                 block* blocks) {
  const table& t = *f.t;
  for (int d = 0; d < f.rank; ++d) {
    if (extents[d] < 0) refuse_extent(t, d, extents[d], sizes, f.dims, f.axes);
    blocks[d] = {0, extents[d]};
  }
  for (int a = 0; a < t.axes; ++a) {
    const axis_use u = t.axis[a];
    if (u.what != use::split || u.level != 0) continue;  // the major axis stands for all of its dim
    const int d = u.dim;
    if (!t.uneven[d] && extents[d] % ranks_over(t, d, sizes) != 0)
      refuse_extent(t, d, extents[d], sizes, f.dims, f.axes);
    blocks[d] = block_at(t, d, extents[d], sizes, coords);
  }
}

/// Bytes of all elements that a rank stores.
constexpr index_t bytes_of(const geometry_facts& f, const block* blocks) {
  index_t n = f.element;
  for (int d = 0; d < f.rank; ++d) n *= blocks[d].length + 2 * f.t->halo[d];
  return n;
}

/// Elements between neighbours along dim d of a row-major block.
[[gnu::noinline]] constexpr index_t stride_along(const table& t, const block* blocks, int d,
                                                 int rank) {
  index_t stride = 1;
  for (int i = d + 1; i < rank; ++i) stride *= blocks[i].length + 2 * t.halo[i];
  return stride;
}

/// A tensor's blocks, for functions that serve tensors of all types.
struct block_view {
  const table* t;
  const block* blocks;
  int rank;

  constexpr index_t local(int d) const { return blocks[d].length + 2 * t->halo[d]; }
  constexpr index_t stride(int d) const { return stride_along(*t, blocks, d, rank); }
};

/// What depends on the number of dims alone: tensors of one rank share the code that copies it.
template <int Rank> struct block_array {
  std::array<block, static_cast<std::size_t>(Rank)> block_{};
  unsigned once_ = 0;
};

/// Data: a block_array, and what else a tensor keeps.
template <class Spec, class Data = block_array<Spec::rank>> class geometry : protected Data {
 public:
  using spec_type = Spec;
  using value_type = typename Spec::value_type;
  using mesh_type = typename Spec::mesh;
  using layout_type = typename Spec::layout;
  using shape_type = typename Spec::shape_type;
  static constexpr int rank = Spec::rank;

  static constexpr geometry_facts facts{&Spec::table, rank, sizeof(value_type),
                                        names<typename Spec::dims>::at,
                                        names<typename mesh_type::axes>::at};

  constexpr geometry() = default;
  /// Throws dimesh::error when a run-time extent is missing or cannot be cut evenly.
  constexpr geometry(const shape_type& s, const index_t* sizes, const index_t* coords) : shape_(s) {
    const auto extents = shape_.extents();
    work_out_blocks(facts, extents.data(), sizes, coords, this->block_.data());
  }

  constexpr const shape_type& shape() const { return shape_; }
  /// Global extent of D.
  template <Dim D> constexpr index_t extent() const { return shape_.template extent<D>(); }
  /// The run of D's elements that this rank holds (its own: halo not counted).
  template <Dim D> constexpr dimesh::block block() const { return this->block_[place<D>]; }
  constexpr dimesh::block block(int d) const { return this->block_[static_cast<std::size_t>(d)]; }
  /// How many elements of D this rank stores (halo counted).
  template <Dim D> constexpr index_t local() const {
    constexpr index_t fixed = static_block_length<Spec, D>();
    if constexpr (fixed != dynamic)
      return fixed;
    else
      return local(place<D>);
  }
  constexpr index_t local(int d) const { return block(d).length + 2 * Spec::table.halo[d]; }
  /// Elements between neighbours along dim d of this rank's block.
  constexpr index_t stride(int d) const {
    return stride_along(Spec::table, this->block_.data(), d, rank);
  }
  constexpr block_view blocks() const { return {&Spec::table, this->block_.data(), rank}; }
  /// How many elements this rank stores.
  constexpr index_t local_size() const { return product(typename Spec::dims{}); }
  constexpr index_t local_bytes() const {
    return local_size() * static_cast<index_t>(sizeof(value_type));
  }

  /// Partial axes along which every rank holds the whole value, to be counted once (a note on how
  /// the addends are stored; see docs/decisions). Bit a is mesh axis a.
  constexpr unsigned once() const { return this->once_; }
  constexpr void set_once(unsigned axes) { this->once_ = axes; }

 protected:
  /// The blocks are yet to be worked out.
  constexpr void set_shape(const shape_type& s) { shape_ = s; }

 private:
  template <Dim D>
  static constexpr std::size_t place = static_cast<std::size_t>(index_of<D, typename Spec::dims>);
  template <class... D> constexpr index_t product(list<D...>) const {
    return (index_t{1} * ... * local<D>());
  }
  [[no_unique_address]] shape_type shape_{};
};

}  // namespace dimesh::detail
