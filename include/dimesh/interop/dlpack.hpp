// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do other libraries' arrays become this rank's block of a tensor, and the other way, without
// a copy? By DLPack's structs (github.com/dmlc/dlpack), which NumPy, PyTorch and JAX exchange.
//
//   auto x = from_dlpack<tensor<float, L, batch, pixel>>(g, managed)   // given back when x ends
//   dlpack::managed_tensor* m = to_dlpack(x);                // m->deleter(m) gives it back
//
// The structs here are those of DLPack's C header, of its ABI before versions were part of it;
// cast pointers to and from DLManagedTensor. On the host; C order; halos are part of the block.
#pragma once

#include <cstdint>
#include <memory>

#include "dimesh/element/element_traits.hpp"
#include "dimesh/interop/borrow.hpp"

namespace dimesh::dlpack {

/// DLDevice: 1 is the host.
struct device {
  std::int32_t type = 1, id = 0;
};
/// DLDataType.
struct data_type {
  std::uint8_t code = 0, bits = 0;
  std::uint16_t lanes = 1;
  bool operator==(const data_type&) const = default;
};
/// DLTensor: extents and strides in elements, of which null means C order.
struct tensor_view {
  void* data = nullptr;
  device on;
  std::int32_t rank = 0;
  data_type type;
  std::int64_t* extents = nullptr;
  std::int64_t* strides = nullptr;
  std::uint64_t byte_offset = 0;
};
/// DLManagedTensor: whoever gets one calls deleter(it), once, unless it is null.
struct managed_tensor {
  tensor_view view;
  void* context = nullptr;
  void (*deleter)(managed_tensor*) = nullptr;
};

/// DLPack's name of an element type; of 0 bits where it has none.
template <class T> constexpr data_type type_of() {
  using enum element_kind;
  constexpr element_kind k = element_traits<T>::kind;
  constexpr auto bits = static_cast<std::uint8_t>(8 * sizeof(T));
  if (k == int8 || k == int16 || k == int32 || k == int64) return {0, bits, 1};
  if (k == uint8 || k == uint16 || k == uint32 || k == uint64) return {1, bits, 1};
  if (k == half || k == float32 || k == float64) return {2, bits, 1};
  if (k == bfloat16) return {4, bits, 1};
  if (k == complex64 || k == complex128) return {5, bits, 1};
  if (k == boolean) return {6, bits, 1};
  return {};
}

}  // namespace dimesh::dlpack

namespace dimesh {

namespace detail {

/// What to_dlpack hands out: the tensor lives as long as this does.
template <class X> struct lent_out {
  dlpack::managed_tensor managed;
  X tensor;
  std::int64_t extents[X::rank + 1]{}, strides[X::rank + 1]{};
  explicit lent_out(const X& x) : tensor(x) {}
};
inline void require_dlpack(bool holds, const char* what) {
  if (!holds) (words() << "from_dlpack: " << what).raise();
}

}  // namespace detail

/// This rank's block of x for another library, to be read: its memory, or, where it is a sum yet to
/// be made that each rank holds whole (x.once()), on all ranks but the first zeros in memory of
/// their own. It stays alive until deleter is called. Local. On the host.
template <Tensor X>
  requires(dlpack::type_of<value_of<X>>().bits > 0 && detail::on_host)
dlpack::managed_tensor* to_dlpack(const X& x) {
  detail::require_grid("to_dlpack", detail::core_of(x));
  auto out = std::make_unique<detail::lent_out<X>>(x);
  detail::tensor_core& c = detail::core_of(out->tensor);
  detail::settle(c, c.once);
  for (int d = 0; d < X::rank; ++d) out->extents[d] = c.local(d), out->strides[d] = c.stride(d);
  out->managed.view = {c.data<void>(), {},           X::rank, dlpack::type_of<value_of<X>>(),
                       out->extents,   out->strides, 0};
  out->managed.context = out.get();
  out->managed.deleter = [](dlpack::managed_tensor* m) {
    delete static_cast<detail::lent_out<X>*>(m->context);
  };
  return &out.release()->managed;
}
/// Of poison there is nothing to lend.
template <Operand X>
  requires is_poison<X>
dlpack::managed_tensor* to_dlpack(const X&) {
  return nullptr;
}

/// A tensor over another library's array, which is this rank's block of it and may be written.
/// The array is given back when no tensor needs it any more. Extents that X leaves open come
/// behind. Local. Throws dimesh::error, and leaves the array to the caller, where device, elements,
/// extents or strides are others, or its memory is none that elements can be in.
template <Tensor X, Extents... From>
  requires(dlpack::type_of<value_of<X>>().bits > 0 && detail::on_host)
X from_dlpack(const typename X::grid_type& g, dlpack::managed_tensor* m, const From&... extents) {
  const dlpack::tensor_view& v = m->view;
  detail::require_dlpack(v.on.type == 1, "the array is on a device; copy it to the host");
  detail::require_dlpack(v.type == dlpack::type_of<value_of<X>>(),
                         "the array's elements are not those of the tensor");
  detail::require_dlpack(v.rank == X::rank, "the array has another number of dims");
  // (As a number: an array without elements may be nowhere.)
  const auto place = reinterpret_cast<std::uintptr_t>(v.data) + v.byte_offset;
  auto* const data = reinterpret_cast<value_of<X>*>(place);
  detail::require_dlpack(place % alignof(value_of<X>) == 0,
                         "the array begins between two elements' places in memory; copy it");
  struct back {
    dlpack::managed_tensor* it;
    bool taken = false;
    ~back() {
      if (taken && it->deleter != nullptr) it->deleter(it);
    }
  };
  const auto keeps = std::make_shared<back>(back{m});
  X x = detail::tensor_over<X>(g, detail::lent_storage<X>(data, keeps), extents...);
  for (int d = 0; d < X::rank; ++d)
    detail::require_dlpack(v.extents[d] == detail::core_of(x).local(d),
                           "the array is not as long as this rank's block");
  if (v.strides != nullptr) detail::require_strides("from_dlpack", detail::core_of(x), v.strides);
  detail::require_dlpack(v.data != nullptr || detail::core_of(x).elements() == 0,
                         "the array has elements, but no memory");
  keeps->taken = true;
  return x;
}

}  // namespace dimesh
