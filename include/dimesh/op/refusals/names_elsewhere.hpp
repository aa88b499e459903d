// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who calls an operation by the name that it has in PyTorch, NumPy, Eigen or
// MPI? Which one it is here. As in unnamed_dims.hpp, a function of the user's that has this name
// fits better.
//
//   matmul(x, w)        -> named_otherwise<>: einsum: a product names the dims of its result ...
//   allreduce<rows>(x)  -> named_otherwise<rows>: all_reduce: collectives are ...
//
// What tensors and optimizers have as members there: core/members_elsewhere.hpp.
#pragma once

#include "dimesh/core/members_elsewhere.hpp"
#include "dimesh/op/refusals/unnamed_dims.hpp"

namespace dimesh {

namespace detail {

/// A grid or a number: what arrays are made of elsewhere.
struct any_size {
  template <class M> constexpr any_size(const grid<M>&) {}  // NOLINT: a conversion is meant
  template <class N>
    requires std::is_arithmetic_v<N>
  constexpr any_size(const N&) {}  // NOLINT: likewise
};

template <class... N> constexpr poison refuse_maker() {
  static_assert(ok<named_otherwise<N...>>,
                "tensor: they are made by zeros<X>(grid), constant<X>(grid, 1), generate<X>(grid, "
                "f), uniform<X>(grid, key, 0, 1), normal<X>(grid, key, 0, 1)");
  return {};
}
template <class... N> constexpr poison refuse_collective() {
  static_assert(ok<named_otherwise<N...>>,
                "all_reduce: collectives are all_reduce<rows>(x), all_gather<rows>(x), "
                "all_to_all<batch, hidden, rows>(x), broadcast<rows>(x); complete(x) finds them");
  return {};
}

}  // namespace detail

// Products.
template <class... N> constexpr poison matmul(detail::any_operand, detail::any_operand) {
  return detail::refuse_product<N...>();
}
template <class... N> constexpr poison mm(detail::any_operand, detail::any_operand) {
  return detail::refuse_product<N...>();
}
template <class... N> constexpr poison bmm(detail::any_operand, detail::any_operand) {
  return detail::refuse_product<N...>();
}
template <class... N> constexpr poison dot(detail::any_operand, detail::any_operand) {
  return detail::refuse_product<N...>();
}
template <class... N>
constexpr poison tensordot(detail::any_operand, detail::any_operand, detail::any_argument = {}) {
  return detail::refuse_product<N...>();
}
template <class... N>
constexpr poison linear(detail::any_operand, detail::any_operand, detail::any_argument = {}) {
  return detail::refuse_product<N...>();
}

// Dims.
template <class... N>
constexpr poison transpose(detail::any_operand, detail::any_argument = {},
                           detail::any_argument = {}) {
  return detail::refuse_transpose<N...>();
}
template <class... N>
constexpr poison reshape(detail::any_operand, detail::any_argument = {}, detail::any_argument = {},
                         detail::any_argument = {}) {
  return detail::refuse_reshape<N...>();
}
template <class... N>
constexpr poison reshape(detail::any_operand, std::initializer_list<index_t>) {
  return detail::refuse_reshape<N...>();
}
template <class... N> constexpr poison flatten(detail::any_operand, detail::any_argument = {}) {
  return detail::refuse_reshape<N...>();
}
template <class... N> constexpr poison squeeze(detail::any_operand, detail::any_argument = {}) {
  return detail::refuse_reshape<N...>();
}
template <class... N> constexpr poison unsqueeze(detail::any_operand, detail::any_argument = {}) {
  return detail::refuse_reshape<N...>();
}
template <class... N>
constexpr poison cat(detail::any_operand, detail::any_operand, detail::any_argument = {},
                     detail::any_argument = {}) {
  static_assert(ok<named_otherwise<N...>>,
                "cat: it is concat<length>(x, y) of a dim<>, or concat<both, left, right>(x, y), "
                "of <dimesh/op/concat.hpp>");
  return {};
}
template <class... N>
constexpr poison concatenate(detail::any_operand x, detail::any_operand y,
                             detail::any_argument = {}, detail::any_argument = {}) {
  return cat<N...>(x, y);
}
template <class... N>
constexpr poison roll(detail::any_operand, detail::any_argument, detail::any_argument = {}) {
  static_assert(ok<named_otherwise<N...>>,
                "roll: it is shift<time>(x, 1, boundary::periodic); nothing comes in at the ends "
                "without that");
  return {};
}

// Numbers.
template <class... N>
constexpr poison norm(detail::any_operand, detail::any_argument = {}, detail::any_argument = {}) {
  return detail::refuse_norm<N...>();
}
template <class... N>
constexpr poison where(detail::any_operand, detail::any_argument, detail::any_argument) {
  static_assert(ok<named_otherwise<N...>>,
                "where: it is select(x > 0, x, 0); of what holds for no element nothing is taken "
                "out");
  return {};
}
template <class... N>
constexpr poison clip(detail::any_operand, detail::any_argument, detail::any_argument) {
  static_assert(ok<named_otherwise<N...>>,
                "clip: it is clamp(x, 0, 1), of <dimesh/op/logic.hpp>; of gradients, "
                "clip_by_global_norm(gradients, 1)");
  return {};
}
template <class... N>
constexpr poison cross_entropy(detail::any_operand, detail::any_argument,
                               detail::any_argument = {}) {
  static_assert(ok<named_otherwise<N...>>,
                "cross_entropy: it is softmax_cross_entropy<label>(logits, ids), a loss for each "
                "row; mean of it is that of all");
  return {};
}
template <class... N> constexpr poison logsumexp(detail::any_operand, detail::any_argument = {}) {
  static_assert(ok<named_otherwise<N...>>, "logsumexp: it is log_sum_exp<label>(x)");
  return {};
}
template <class... N>
constexpr poison mse_loss(detail::any_operand, detail::any_argument, detail::any_argument = {}) {
  static_assert(ok<named_otherwise<N...>>, "mse_loss: it is mean(square(x - y)), to be completed");
  return {};
}

// Tensors that are made.
template <class... X> constexpr poison zeros(std::initializer_list<index_t>) {
  return detail::refuse_maker<X...>();
}
template <class... X>
constexpr poison eye(detail::any_size, detail::any_argument = {}, detail::any_argument = {}) {
  return detail::refuse_maker<X...>();
}
template <class... X>
constexpr poison ones(detail::any_size, detail::any_argument = {}, detail::any_argument = {}) {
  return detail::refuse_maker<X...>();
}
template <class... X>
constexpr poison full(detail::any_size, detail::any_argument = {}, detail::any_argument = {}) {
  return detail::refuse_maker<X...>();
}
template <class... X>
constexpr poison empty(detail::any_size, detail::any_argument = {}, detail::any_argument = {}) {
  return detail::refuse_maker<X...>();
}
template <class... X>
constexpr poison arange(detail::any_size, detail::any_argument = {}, detail::any_argument = {}) {
  return detail::refuse_maker<X...>();
}
template <class... X>
constexpr poison rand(detail::any_size, detail::any_argument = {}, detail::any_argument = {}) {
  return detail::refuse_maker<X...>();
}
template <class... X>
constexpr poison randn(detail::any_size, detail::any_argument = {}, detail::any_argument = {}) {
  return detail::refuse_maker<X...>();
}
template <class... X> constexpr poison ones_like(detail::any_operand) {
  return detail::refuse_maker<X...>();
}
template <class... X> constexpr poison full_like(detail::any_operand, detail::any_argument) {
  return detail::refuse_maker<X...>();
}

// Collectives.
template <class... N>
constexpr poison allreduce(detail::any_operand, detail::any_argument = {},
                           detail::any_argument = {}) {
  return detail::refuse_collective<N...>();
}
template <class... N>
constexpr poison allgather(detail::any_operand, detail::any_argument = {},
                           detail::any_argument = {}) {
  return detail::refuse_collective<N...>();
}
template <class... N>
constexpr poison alltoall(detail::any_operand, detail::any_argument = {},
                          detail::any_argument = {}) {
  return detail::refuse_collective<N...>();
}
template <class... N>
constexpr poison bcast(detail::any_operand, detail::any_argument = {}, detail::any_argument = {}) {
  return detail::refuse_collective<N...>();
}

// Starts and ends.
template <class... N> void initialize(int, char**) {
  static_assert(ok<named_otherwise<N...>>,
                "initialize: a program is dimesh::run(argc, argv, [&] { ... }), or has a "
                "dimesh::runtime; both start MPI and Kokkos where nobody did, and end them");
}
template <class... N> void init(int argc, char** argv) { initialize<N...>(argc, argv); }

// Text and files.
template <class... N> constexpr poison print(detail::any_operand, detail::any_argument = {}) {
  return detail::refuse_print<N...>();
}
template <class... N> constexpr poison save(detail::any_operand, detail::any_argument) {
  static_assert(ok<named_otherwise<N...>>,
                "save: a tensor is kept by save_npy(x, \"x.npy\"), of <dimesh/io/npy.hpp>; structs "
                "by save_checkpoint, of <dimesh/io/checkpoint/save.hpp>");
  return {};
}

}  // namespace dimesh
