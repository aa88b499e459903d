// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does oneDNN compute a contraction of floats, or of bfloat16? By its plain single-precision
// product, or by a matmul primitive, which is made once per shape, kept in a table, and takes
// batches whole. Products of bfloat16 are summed in float, whatever type the result has.
//
//   onednn::product(x, a, b, c, add) -> one matrix product; false where strides forbid
//   onednn::batch(x, a, b, c, add)   -> all loops at once; false where oneDNN has no fast path
//
// The choice between them depends on shapes alone, so that equal calls round equally on every rank.
// Both generations of its C interface are served: 2.x from 2.5 on, and 3.x.
#pragma once

#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_version.h>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/element/bfloat16.hpp"
#include "dimesh/local/contraction.hpp"

namespace dimesh::local::onednn {

/// One matrix product, whatever x says of outer loops.
inline bool product(const contraction& x, const float* a, const float* b, float* c, bool add) {
  const matrix_order oc = order_of(x.m, x.n, x.c_m, x.c_n);
  if (oc.fits && oc.transposed) return product(transposed(x), b, a, c, add);
  const matrix_order oa = order_of(x.m, x.k, x.a_m, x.a_k), ob = order_of(x.k, x.n, x.b_k, x.b_n);
  if (!oa.fits || !ob.fits || !oc.fits) return false;
  return dnnl_sgemm(oa.transposed ? 'T' : 'N', ob.transposed ? 'T' : 'N', x.m, x.n, x.k, 1.0f, a,
                    oa.ld, b, ob.ld, add ? 1.0f : 0.0f, c, oc.ld) == dnnl_success;
}

/// oneDNN's name of an element type.
template <class T>
inline constexpr dnnl_data_type_t data_type = std::is_same_v<T, bfloat16> ? dnnl_bf16 : dnnl_f32;

/// The types of the elements of a and b, and of c.
struct element_types {
  dnnl_data_type_t in, out;
};

/// A number by which to find what depends on these.
template <std::size_t N> std::uint64_t hash_of(const index_t (&value)[N]) {
  std::uint64_t h = 0;
  for (index_t v : value) h = (h ^ std::uint64_t(v)) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
  return h;
}

/// Everything that a primitive depends on: comparing two means comparing their bytes.
struct shape {
  static constexpr int max_outer = 3;
  index_t value[11 + 4 * max_outer] = {};

  shape(const contraction& x, bool add, element_types types) {
    const dimesh::detail::writes_arrays kernel;
    const index_t head[] = {x.m,
                            x.n,
                            x.k,
                            x.a_m,
                            x.a_k,
                            x.b_k,
                            x.b_n,
                            x.c_m,
                            x.c_n,
                            2 * x.outer + (add ? 1 : 0),
                            types.in * 64 + types.out};
    std::memcpy(value, head, sizeof head);
    index_t* next = value + 11;
    for (int i = 0; i < x.outer; ++i) {
      *next++ = x.extent[i], *next++ = x.a_outer[i];
      *next++ = x.b_outer[i], *next++ = x.c_outer[i];
    }
  }
  bool operator==(const shape& y) const { return std::memcmp(value, y.value, sizeof value) == 0; }
  std::uint64_t hash() const { return hash_of(value); }
};

/// A description of an array. What 2.x keeps by value, 3.x keeps behind a pointer that we own.
class description {
 public:
  description() = default;
  description(const description&) = delete;
  description& operator=(const description&) = delete;

#if DNNL_VERSION_MAJOR >= 3
  ~description() { dnnl_memory_desc_destroy(it_); }

  bool make(int dims, const dnnl_dims_t extent, dnnl_data_type_t type, const dnnl_dims_t stride) {
    return dnnl_memory_desc_create_with_strides(&it_, dims, extent, type, stride) == dnnl_success;
  }
  /// In the order that a primitive likes best.
  bool make(int dims, const dnnl_dims_t extent, dnnl_data_type_t type) {
    return dnnl_memory_desc_create_with_tag(&it_, dims, extent, type, dnnl_format_tag_any) ==
           dnnl_success;
  }
  const_dnnl_memory_desc_t get() const { return it_; }

 private:
  dnnl_memory_desc_t it_ = nullptr;
#else
  bool make(int dims, const dnnl_dims_t extent, dnnl_data_type_t type, const dnnl_dims_t stride) {
    return dnnl_memory_desc_init_by_strides(&it_, dims, extent, type, stride) == dnnl_success;
  }
  bool make(int dims, const dnnl_dims_t extent, dnnl_data_type_t type) {
    return dnnl_memory_desc_init_by_tag(&it_, dims, extent, type, dnnl_format_tag_any) ==
           dnnl_success;
  }
  const dnnl_memory_desc_t* get() const { return &it_; }

 private:
  dnnl_memory_desc_t it_ = {};
#endif
};

/// How c (+)= a * b will be computed, for dnnl_primitive_create; null where oneDNN cannot.
inline dnnl_primitive_desc_t plan_matmul(const description& a, const description& b,
                                         const description& c, bool add, dnnl_engine_t engine) {
  dnnl_primitive_attr_t attributes = nullptr;
  if (dnnl_primitive_attr_create(&attributes) != dnnl_success) return nullptr;
  if (add) {
    dnnl_post_ops_t then = nullptr;
    dnnl_post_ops_create(&then);
#if DNNL_VERSION_MAJOR >= 3
    dnnl_post_ops_append_sum(then, 1.0f, 0, dnnl_data_type_undef);
#else
    dnnl_post_ops_append_sum(then, 1.0f);
#endif
    dnnl_primitive_attr_set_post_ops(attributes, then);
    dnnl_post_ops_destroy(then);
  }
  dnnl_primitive_desc_t plan = nullptr;
#if DNNL_VERSION_MAJOR >= 3
  const bool good = dnnl_matmul_primitive_desc_create(&plan, engine, a.get(), b.get(), nullptr,
                                                      c.get(), attributes) == dnnl_success;
#else
  dnnl_matmul_desc_t what;
  const bool good =
      dnnl_matmul_desc_init(&what, a.get(), b.get(), nullptr, c.get()) == dnnl_success &&
      dnnl_primitive_desc_create(&plan, &what, attributes, engine, nullptr) == dnnl_success;
#endif
  dnnl_primitive_attr_destroy(attributes);
  return good ? plan : nullptr;
}

/// A matmul primitive with its three memory objects, which are pointed at new data for each call.
class matmul {
 public:
  matmul(const contraction& x, bool add, element_types types, dnnl_engine_t engine) {
    usable_ = make(x, add, types, engine);
  }
  matmul(matmul&& y) noexcept
      : usable_(y.usable_), primitive_(y.primitive_), a_(y.a_), b_(y.b_), c_(y.c_) {
    y.primitive_ = nullptr;
    y.a_ = y.b_ = y.c_ = nullptr;
  }
  matmul(const matmul&) = delete;
  matmul& operator=(const matmul&) = delete;
  matmul& operator=(matmul&&) = delete;
  ~matmul() {
    dnnl_primitive_destroy(primitive_);
    for (dnnl_memory_t memory : {a_, b_, c_}) dnnl_memory_destroy(memory);
  }

  template <class T, class C>
  bool operator()(const T* a, const T* b, C* c, dnnl_stream_t stream) const {
    if (!usable_) return false;
    const dimesh::detail::writes_memory kernel;
    dnnl_memory_set_data_handle(a_, const_cast<T*>(a));
    dnnl_memory_set_data_handle(b_, const_cast<T*>(b));
    dnnl_memory_set_data_handle(c_, c);
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}};
    return dnnl_primitive_execute(primitive_, stream, 3, args) == dnnl_success;
  }

 private:
  /// A (outer.., rows, columns) array; an outer loop that it lacks has extent 1: oneDNN repeats it.
  static bool describe(description& y, const contraction& x, dnnl_data_type_t type,
                       const index_t* outer, index_t rows, index_t columns, index_t row,
                       index_t column) {
    const matrix_order order = order_of(rows, columns, row, column);
    if (!order.fits) return false;
    dnnl_dims_t extent, stride;
    for (int i = 0; i < x.outer; ++i) {
      extent[i] = outer[i] == 0 ? 1 : x.extent[i];
      stride[i] = outer[i] == 0 ? rows * columns : outer[i];
    }
    extent[x.outer] = rows, stride[x.outer] = order.transposed ? 1 : order.ld;
    extent[x.outer + 1] = columns, stride[x.outer + 1] = order.transposed ? order.ld : 1;
    return y.make(x.outer + 2, extent, type, stride);
  }

  bool make(const contraction& x, bool add, element_types types, dnnl_engine_t engine) {
    description a, b, c;
    if (!describe(a, x, types.in, x.a_outer, x.m, x.k, x.a_m, x.a_k) ||
        !describe(b, x, types.in, x.b_outer, x.k, x.n, x.b_k, x.b_n) ||
        !describe(c, x, types.out, x.c_outer, x.m, x.n, x.c_m, x.c_n)) {
      return false;
    }
    const dnnl_primitive_desc_t plan = plan_matmul(a, b, c, add, engine);
    if (plan == nullptr) return false;
    const char* name = "";
    dnnl_primitive_desc_query(plan, dnnl_query_impl_info_str, 0, &name);
    const bool good =
        std::strncmp(name, "ref", 3) != 0 &&  // scalar loops: our own kernel is far faster
        dnnl_primitive_create(&primitive_, plan) == dnnl_success &&
        dnnl_memory_create(&a_, a.get(), engine, DNNL_MEMORY_NONE) == dnnl_success &&
        dnnl_memory_create(&b_, b.get(), engine, DNNL_MEMORY_NONE) == dnnl_success &&
        dnnl_memory_create(&c_, c.get(), engine, DNNL_MEMORY_NONE) == dnnl_success;
    dnnl_primitive_desc_destroy(plan);
    return good;
  }

  bool usable_ = false;
  dnnl_primitive_t primitive_ = nullptr;
  dnnl_memory_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
};

/// This thread's primitives by shape: a hash table that probes linearly, and starts afresh when
/// a program has used more than so many shapes.
template <class Shape, class Primitive, std::size_t Most> class table {
 public:
  table() : slot_(2 * Most, -1) {
    entry_.reserve(Most);
    dnnl_engine_create(&engine_, dnnl_cpu, 0);
    dnnl_stream_create(&stream_, engine_, dnnl_stream_default_flags);
  }
  table(const table&) = delete;
  table& operator=(const table&) = delete;
  ~table() {
    entry_.clear();
    dnnl_stream_destroy(stream_);
    dnnl_engine_destroy(engine_);
  }

  /// make(engine) -> the primitive, where none of this shape is known.
  const Primitive& find(const Shape& wanted, const auto& make) {
    std::size_t at = wanted.hash() % slot_.size();
    for (; slot_[at] >= 0; at = (at + 1) % slot_.size()) {
      const auto& [known, made] = entry_[std::size_t(slot_[at])];
      if (known == wanted) return made;
    }
    if (entry_.size() == Most) {
      entry_.clear();
      slot_.assign(slot_.size(), -1);
      at = wanted.hash() % slot_.size();
    }
    slot_[at] = int(entry_.size());
    entry_.emplace_back(wanted, make(engine_));
    return entry_.back().second;
  }
  dnnl_stream_t stream() const { return stream_; }

 private:
  std::vector<int> slot_;
  std::vector<std::pair<Shape, Primitive>> entry_;
  dnnl_engine_t engine_ = nullptr;
  dnnl_stream_t stream_ = nullptr;
};

/// The whole nest of loops by one primitive.
template <class T, class C>
bool batch(const contraction& x, const T* a, const T* b, C* c, bool add) {
  if (x.outer > shape::max_outer) return false;
  for (int i = 0; i < x.outer; ++i) {
    if (x.c_outer[i] == 0) return false;  // a summed loop is no batch
  }
  constexpr element_types types{data_type<T>, data_type<C>};
  thread_local table<shape, matmul, 512> known;
  const matmul& it =
      known.find({x, add, types}, [&](auto engine) { return matmul(x, add, types, engine); });
  return it(a, b, c, known.stream());
}

}  // namespace dimesh::local::onednn
