// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do ranks' values become one? By a sum, a product, a maximum or a minimum: MPI's own where
// they do what these say. bfloat16 and half MPI does not know: messages have two bytes an element;
// each sum is made in float and rounded to what travels on. And of floating-point numbers NaN is
// the greatest and the least where it is among them, as within a rank: MPI's maximum hangs on their
// order.
//
//   MPI_Allreduce(x, y, n, MPI_UINT16_T, own_operation(element_kind::half, reduction::sum), c)
//
// float's addition is commutative to the bit, so all ranks end with the same bits where MPI's own
// sums of floats do.
#pragma once

#include <type_traits>

#include "dimesh/collective/communicator.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/element/bfloat16.hpp"
#include "dimesh/element/half.hpp"

namespace dimesh::collective {

enum class reduction { sum, max, min, product };

namespace detail {

/// u and v joined; of maxima and minima NaN is the result where either is.
template <reduction R, class T> T joined(T u, T v) {
  if constexpr (R == reduction::sum)
    return u + v;
  else if constexpr (R == reduction::product)
    return u * v;
  else if constexpr (R == reduction::max)
    return ((u >= v) | (u != u)) ? u : v;
  else
    return ((u <= v) | (u != u)) ? u : v;
}

/// b (n) = a (n) joined with b: what MPI calls.
template <class T, reduction R> void join_elements(void* a, void* b, int* n, MPI_Datatype*) {
  using computed = std::conditional_t<std::is_floating_point_v<T>, T, float>;
  const dimesh::detail::writes_memory kernel;
  const auto* const x = static_cast<const T*>(a);
  auto* const y = static_cast<T*>(b);
  const index_t count = *n;
#pragma omp simd
  for (index_t i = 0; i < count; ++i) y[i] = joined<R, computed>(x[i], y[i]);
}

/// The operations on a type, made at their first use. MPI_Finalize begins by
/// deleting the attributes of MPI_COMM_SELF (MPI 3.1, section 8.7.1): there they are freed.
template <class T> class own_operations {
 public:
  static MPI_Op of(reduction r) {
    static own_operations* const all = new own_operations;  // ended by MPI, not at exit
    return all->op_[static_cast<int>(r)];
  }

 private:
  own_operations() {
    MPI_User_function* const join[] = {
        join_elements<T, reduction::sum>, join_elements<T, reduction::max>,
        join_elements<T, reduction::min>, join_elements<T, reduction::product>};
    constexpr int commutes = 1;
    for (int r = 0; r < 4; ++r)
      dimesh::detail::check(MPI_Op_create(join[r], commutes, &op_[r]), "reduction");
    int key = MPI_KEYVAL_INVALID;
    dimesh::detail::check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &end, &key, nullptr),
                          "reduction");
    dimesh::detail::check(MPI_Comm_set_attr(MPI_COMM_SELF, key, this), "reduction");
    MPI_Comm_free_keyval(&key);  // it goes when the attribute does
  }
  static int end(MPI_Comm, int, void* self, void*) {
    auto* const all = static_cast<own_operations*>(self);
    for (MPI_Op& op : all->op_) MPI_Op_free(&op);
    delete all;
    return MPI_SUCCESS;
  }
  MPI_Op op_[4] = {MPI_OP_NULL, MPI_OP_NULL, MPI_OP_NULL, MPI_OP_NULL};
};

}  // namespace detail

/// The operation on floating-point numbers, of which bfloat16 and half travel as MPI_UINT16_T. The
/// library owns it.
[[gnu::noinline]] inline MPI_Op own_operation(element_kind kind, reduction r) {
  switch (kind) {
    case element_kind::half:
      return detail::own_operations<half>::of(r);
    case element_kind::bfloat16:
      return detail::own_operations<bfloat16>::of(r);
    case element_kind::float32:
      return detail::own_operations<float>::of(r);
    case element_kind::float64:
      return detail::own_operations<double>::of(r);
    default:
      return detail::own_operations<long double>::of(r);
  }
}

}  // namespace dimesh::collective
