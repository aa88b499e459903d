// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is left of a tensor without its data? Its type, its extents, and a ledger on which every
// operation enters its cost. A program runs on such tensors as on real ones, also while compiling.
//
//   shaped_tensor<float, L, batch, hidden> x;          // all extents static: nothing to give
//   shaped_tensor<float, L, batch, length> y(mesh_sizes<pod>{}, length{37});
#pragma once

#include "dimesh/ledger.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh {

namespace detail {

/// Bytes that count as live on a tally for as long as a handle to them lives.
class live_bytes {
 public:
  constexpr live_bytes() = default;
  constexpr live_bytes(tally* t, index_t bytes) : tally_(t) {
    if (tally_ == nullptr) return;
    count_ = new counter{1, bytes};
    tally_->hold(bytes);
  }
  constexpr live_bytes(const live_bytes& o) : tally_(o.tally_), count_(o.count_) {
    if (count_ != nullptr) ++count_->owners;
  }
  constexpr live_bytes(live_bytes&& o) noexcept : tally_(o.tally_), count_(o.count_) {
    o.count_ = nullptr;
  }
  constexpr live_bytes& operator=(const live_bytes& o) {
    if (count_ == o.count_) return *this;
    let_go();
    tally_ = o.tally_;
    count_ = o.count_;
    if (count_ != nullptr) ++count_->owners;
    return *this;
  }
  constexpr live_bytes& operator=(live_bytes&& o) noexcept {
    if (this == &o) return *this;
    let_go();
    tally_ = o.tally_;
    count_ = o.count_;
    o.count_ = nullptr;
    return *this;
  }
  constexpr ~live_bytes() { let_go(); }
  constexpr bool alone() const { return count_ != nullptr && count_->owners == 1; }
  /// Lets go, but the bytes count as live to the end.
  constexpr void pin() {
    if (count_ != nullptr && --count_->owners == 0) delete count_;
    count_ = nullptr;
  }

 private:
  struct counter {
    int owners;
    index_t bytes;
  };
  [[gnu::noinline]] constexpr void let_go() {
    if (count_ != nullptr && --count_->owners == 0) {
      tally_->hold(-count_->bytes);
      delete count_;
    }
    count_ = nullptr;
  }
  tally* tally_ = nullptr;
  counter* count_ = nullptr;
};

/// Blocks and ledger of a shape. Its copies are out of line, as those of tensor_data are.
template <int Rank> struct shaped_data : block_array<Rank> {
  dimesh::detail::tally* tally_ = nullptr;
  live_bytes live_;

  constexpr shaped_data() = default;
  [[gnu::noinline]] constexpr shaped_data(const shaped_data& x)
      : block_array<Rank>(x), tally_(x.tally_), live_(x.live_) {}
  [[gnu::noinline]] constexpr shaped_data(shaped_data&& x) noexcept
      : block_array<Rank>(x), tally_(x.tally_), live_(std::move(x.live_)) {}
  [[gnu::noinline]] constexpr shaped_data& operator=(const shaped_data& x) {
    block_array<Rank>::operator=(x);
    tally_ = x.tally_;
    live_ = x.live_;
    return *this;
  }
  [[gnu::noinline]] constexpr shaped_data& operator=(shaped_data&& x) noexcept {
    block_array<Rank>::operator=(x);
    tally_ = x.tally_;
    live_ = std::move(x.live_);
    return *this;
  }
  constexpr ~shaped_data() = default;

  /// Keeps no bytes alive any more, like a tensor whose elements are given up.
  constexpr void forget_data() { live_ = {}; }
};

/// Blocks and ledger of a new shape, on the rank at the origin.
[[gnu::noinline]] constexpr void set_up_shape(const geometry_facts& f, const index_t* extents,
                                              const index_t* sizes, block* blocks, live_bytes& live,
                                              tally* t) {
  const index_t origin[max_axes] = {};
  work_out_blocks(f, extents, sizes, origin, blocks);
  live = live_bytes(t, bytes_of(f, blocks));
}

}  // namespace detail

/// A tensor without data; stands for the rank at the origin of the mesh, whose blocks are largest.
template <class T, class L, Dim... D>
class shaped_tensor : public detail::any_tensor,
                      public detail::geometry<spec<T, L, D...>, detail::shaped_data<sizeof...(D)>> {
  using base = detail::geometry<spec<T, L, D...>, detail::shaped_data<sizeof...(D)>>;

 public:
  using typename base::mesh_type;
  using typename base::shape_type;

  /// All extents static, axes without a static size of size 1. With an open extent: no shape yet.
  constexpr shaped_tensor() {
    if constexpr ((is_static_dim<D> && ...)) set_up(nullptr);
  }

  /// Axis sizes, and dims or shapes that give the extents the type leaves open.
  template <Extents... From>
  constexpr explicit shaped_tensor(const mesh_sizes<mesh_type>& sizes, const From&... extents)
      : shaped_tensor(sizes, make_shape(extents...), nullptr) {}

  /// A result: its bytes count as live on the tally.
  [[gnu::noinline]] constexpr shaped_tensor(const mesh_sizes<mesh_type>& sizes, const shape_type& s,
                                            detail::tally* t)
      : sizes_(sizes) {
    base::set_shape(s);
    set_up(t);
  }

  constexpr const mesh_sizes<mesh_type>& sizes() const { return sizes_; }
  constexpr detail::tally* tally() const { return this->tally_; }
  constexpr const detail::live_bytes& live() const { return this->live_; }
  /// Its bytes are no longer alive: as of a tensor that has given up its elements.
  using base::forget_data;
  /// Its bytes count as live to the end. g++ 12 copies arrays bit by bit in constant expressions:
  /// no handle to bytes may stand in an array there.
  constexpr shaped_tensor& pin() {
    this->live_.pin();
    return *this;
  }
  /// The same as an operand of a computation that is being counted.
  constexpr shaped_tensor counted_by(detail::tally* t) const {
    return shaped_tensor(sizes_, base::shape(), t);
  }
  /// For results that share their operand's memory.
  constexpr void share(detail::tally* t, const detail::live_bytes& live) {
    this->tally_ = t;
    this->live_ = live;
  }

 private:
  constexpr void set_up(detail::tally* t) {
    this->tally_ = t;
    const auto extents = base::shape().extents();
    detail::set_up_shape(base::facts, extents.data(), sizes_.size.data(), this->block_.data(),
                         this->live_, t);
  }
  template <Extents... E> static constexpr shape_type make_shape(const E&... extents) {
    if constexpr (sizeof...(E) == 0)
      return shape_type{};
    else
      return shape_type(extents...);
  }
  mesh_sizes<mesh_type> sizes_;
};

}  // namespace dimesh
