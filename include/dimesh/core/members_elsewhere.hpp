// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who asks a tensor for what is a member of arrays elsewhere? Which function it
// is here. A base of all tensors, and one class for all of them.
//
//   x.sum<batch>()   -> named_otherwise<batch>: tensor: what computes is a function, and no member
//   x.item()         -> named_otherwise<>: tensor: the number of one without dims ... is value(x)
#pragma once

#include "dimesh/detail/config.hpp"
#include "dimesh/layout/fault.hpp"
#include "dimesh/layout/poison.hpp"

namespace dimesh::detail {

template <class... N> constexpr poison refuse_product() {
  static_assert(ok<named_otherwise<N...>>,
                "einsum: a product names the dims of its result, and sums over all others: "
                "einsum<batch, label>(x, w); of all elements sum(x * y)");
  return {};
}
template <class... N> constexpr poison refuse_transpose() {
  static_assert(ok<named_otherwise<N...>>,
                "permute: dims meet by name, so that products need no transpose; the order in "
                "memory is that of permute<hidden, batch>(x)");
  return {};
}
template <class... N> constexpr poison refuse_reshape() {
  static_assert(ok<named_otherwise<N...>>,
                "reshape: dims are joined by merge<both, a, b>(x), parted by cut<both, a, b>(x), "
                "of <dimesh/op/merge.hpp>; one more is expand<a>(x)");
  return {};
}
template <class... N> constexpr poison refuse_norm() {
  static_assert(ok<named_otherwise<N...>>,
                "norm: it is l2_norm<hidden>(x), of all elements l2_norm(x), of "
                "<dimesh/op/reductions.hpp>; as a number global_norm(x), of "
                "<dimesh/optim/clip.hpp>");
  return {};
}
template <class... N> constexpr poison refuse_print() {
  static_assert(ok<named_otherwise<N...>>,
                "print: all ranks write std::cout << x, and rank 0 is heard; where blocks lie says "
                "draw_text<X>(sizes), of <dimesh/show/draw.hpp>");
  return {};
}

template <class... N> constexpr poison refuse_gradient() {
  static_assert(ok<named_otherwise<N...>>,
                "tensor: a function has gradients, and no tensor: auto [loss, gradients] = "
                "complete(value_and_grad(f, parameters)(x))");
  return {};
}
template <class... N> constexpr poison refuse_memory() {
  static_assert(ok<named_otherwise<N...>>,
                "tensor: to one rank go to_rank(x), to a file of NumPy save_npy(x, \"x.npy\"), of "
                "<dimesh/io/npy.hpp>; to a device and back to_space(x, grid)");
  return {};
}
template <class... N> constexpr index_t refuse_size() {
  static_assert(ok<named_otherwise<N...>>,
                "tensor: how long dims are says x.extent<batch>(); how many elements this rank "
                "has, x.local_size()");
  return 0;
}

/// Members that are none. They are templates, so that nothing is said before one is called; a
/// `requires { x.size(); }` of a program finds them.
struct members_elsewhere {
  template <class... N, class... A> constexpr poison sum(const A&...) const {
    return refuse_member<N...>();
  }
  template <class... N, class... A> constexpr poison mean(const A&...) const {
    return refuse_member<N...>();
  }
  template <class... N, class... A> constexpr poison max(const A&...) const {
    return refuse_member<N...>();
  }
  template <class... N, class... A> constexpr poison min(const A&...) const {
    return refuse_member<N...>();
  }
  template <class... N, class... A> constexpr poison to(const A&...) const {
    return refuse_member<N...>();
  }
  template <class... N, class... A> constexpr poison cast(const A&...) const {
    return refuse_member<N...>();
  }
  template <class... N, class... A> constexpr poison clone(const A&...) const {
    return refuse_member<N...>();
  }
  template <class... N, class... A> constexpr poison fill(const A&...) const {
    return refuse_member<N...>();
  }
  template <class... N, class... A> constexpr poison exp(const A&...) const {
    return refuse_member<N...>();
  }
  template <class... N, class... A> constexpr poison relu(const A&...) const {
    return refuse_member<N...>();
  }
  template <class... N, class... A> constexpr poison softmax(const A&...) const {
    return refuse_member<N...>();
  }
  template <class... N, class... A> constexpr poison argmax(const A&...) const {
    return refuse_member<N...>();
  }
  template <class... N, class... A> constexpr poison copy(const A&...) const {
    return refuse_member<N...>();
  }
  template <class... N, class... A> constexpr poison dot(const A&...) const {
    return refuse_product<N...>();
  }
  template <class... N, class... A> constexpr poison matmul(const A&...) const {
    return refuse_product<N...>();
  }
  template <class... N, class... A> constexpr poison norm(const A&...) const {
    return refuse_norm<N...>();
  }
  template <class... N, class... A> constexpr poison transpose(const A&...) const {
    return refuse_transpose<N...>();
  }
  template <class... N, class... A> constexpr poison permute(const A&...) const {
    return refuse_transpose<N...>();
  }
  template <class... N, class... A> constexpr poison reshape(const A&...) const {
    return refuse_reshape<N...>();
  }
  template <class... N, class... A> constexpr poison flatten(const A&...) const {
    return refuse_reshape<N...>();
  }
  template <class... N, class First, class... A>
  constexpr poison view(const First&, const A&...) const {
    return refuse_reshape<N...>();
  }
  template <class... N> constexpr poison print() const { return refuse_print<N...>(); }
  template <class... N> constexpr poison item() const {
    static_assert(ok<named_otherwise<N...>>,
                  "tensor: the number of one without dims that is complete is value(x)");
    return {};
  }
  template <class... N> constexpr poison detach() const {
    static_assert(ok<named_otherwise<N...>>, "detach: it is stop_gradient(x)");
    return {};
  }
  template <class... N, class... A> constexpr void backward(const A&...) const {
    (void)refuse_gradient<N...>();
  }
  template <class... N, class... A> constexpr index_t size(const A&...) const {
    return refuse_size<N...>();
  }
  template <class... N> constexpr index_t numel() const { return refuse_size<N...>(); }
  template <class... N, class First> constexpr index_t shape(const First&) const {
    return refuse_size<N...>();
  }
  template <class... N> constexpr poison cpu() const { return refuse_memory<N...>(); }
  template <class... N> constexpr poison cuda() const { return refuse_memory<N...>(); }
  template <class... N> constexpr poison numpy() const { return refuse_memory<N...>(); }

 private:
  template <class... N> static constexpr poison refuse_member() {
    static_assert(ok<named_otherwise<N...>>,
                  "tensor: what computes is a function, and no member: sum<batch>(x), mean(x), "
                  "max<batch>(x), cast<double>(x), clone(x), fill(x, 0)");
    return {};
  }
};

}  // namespace dimesh::detail
