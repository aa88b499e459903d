// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does oneDNN compute a convolution of floats, or one of its two transposes? By a convolution
// primitive, which is made once per shape and kept in a table. Array and result are read and
// written where they lie; the filter is turned in each call, from or to the order that the
// primitive likes.
//
//   onednn::convolve(v, a, b, c) -> c is computed; false: where products of taps are faster, or
//                                   oneDNN has no fast path
//
// The choice depends on shapes alone, so that equal calls round equally on every rank. The sums are
// those of the definition (no Winograd): of small integers they are exact. A thread keeps at most
// 512 primitives, of some 100 kB each, and memory for the largest filter that it has turned, beside
// what oneDNN keeps for itself.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "dimesh/local/backend_onednn.hpp"
#include "dimesh/local/backend_onednn_shape.hpp"

namespace dimesh::local::onednn {

/// The dims of array, filter or result, in the order that oneDNN knows.
class dims {
 public:
  void add(index_t extent, index_t step) { extent_[n_] = extent, step_[n_++] = step; }
  void add_windows(const convolution_shape& y, window_role r) {
    for (int i = 0; i < y.windows; ++i) {
      const auto& w = y.window[i];
      add(w.extent[int(r)], w.step[int(r)]);
    }
  }
  /// Steps of dims with one element are free: as if all lay densely, channels innermost or before
  /// the windows, which is what a primitive looks for.
  bool describe(description& to, bool channels_last) {
    index_t dense = 1;
    const auto settle = [&](int i) {
      if (extent_[i] == 1) step_[i] = dense;
      dense = std::max(dense, step_[i] * extent_[i]);
    };
    if (channels_last) settle(1);
    for (int i = n_ - 1; i >= 0; --i)
      if (i != 1 || !channels_last) settle(i);
    return to.make(n_, extent_, dnnl_f32, step_);
  }
  bool describe_any(description& to) const { return to.make(n_, extent_, dnnl_f32); }

 private:
  int n_ = 0;
  dnnl_dims_t extent_ = {}, step_ = {};
};

/// How it will be computed, for dnnl_primitive_create; null where oneDNN cannot.
inline dnnl_primitive_desc_t plan_convolution(const convolution_shape& y, const description& array,
                                              const description& filter, const description& result,
                                              dnnl_engine_t engine) {
  dnnl_dims_t strides, dilations, before, behind;
  for (int i = 0; i < y.windows; ++i) {
    const auto& w = y.window[i];
    strides[i] = w.stride, dilations[i] = w.dilation - 1;
    before[i] = w.before, behind[i] = w.behind;
  }
  constexpr auto way = dnnl_convolution_direct;
  const auto wanted = window_role(y.wanted);
  const auto x = array.get(), w = filter.get(), r = result.get();
  dnnl_primitive_desc_t plan = nullptr;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl_status_t made =
      wanted == window_role::result ? dnnl_convolution_forward_primitive_desc_create(
                                          &plan, engine, dnnl_forward_inference, way, x, w, nullptr,
                                          r, strides, dilations, before, behind, nullptr)
      : wanted == window_role::array
          ? dnnl_convolution_backward_data_primitive_desc_create(
                &plan, engine, way, x, w, r, strides, dilations, before, behind, nullptr, nullptr)
          : dnnl_convolution_backward_weights_primitive_desc_create(
                &plan, engine, way, x, w, nullptr, r, strides, dilations, before, behind, nullptr,
                nullptr);
  return made == dnnl_success ? plan : nullptr;
#else
  dnnl_convolution_desc_t what;
  const dnnl_status_t said =
      wanted == window_role::result ? dnnl_dilated_convolution_forward_desc_init(
                                          &what, dnnl_forward_inference, way, x, w, nullptr, r,
                                          strides, dilations, before, behind)
      : wanted == window_role::array
          ? dnnl_dilated_convolution_backward_data_desc_init(&what, way, x, w, r, strides,
                                                             dilations, before, behind)
          : dnnl_dilated_convolution_backward_weights_desc_init(&what, way, x, w, nullptr, r,
                                                                strides, dilations, before, behind);
  const bool good =
      said == dnnl_success &&
      dnnl_primitive_desc_create(&plan, &what, nullptr, engine, nullptr) == dnnl_success;
  return good ? plan : nullptr;
#endif
}

/// A convolution primitive, and the reorder of its filter where the program's order is not the
/// primitive's. Memory objects are pointed at new data for each call.
class convolver {
 public:
  convolver(const convolution_shape& y, dnnl_engine_t engine) : wanted_(window_role(y.wanted)) {
    usable_ = make(y, engine);
  }
  convolver(convolver&& y) noexcept
      : usable_(y.usable_),
        wanted_(y.wanted_),
        room_(y.room_),
        primitive_(y.primitive_),
        turn_(y.turn_),
        filter_(y.filter_) {
    std::copy_n(y.memory_, 3, memory_);
    y.primitive_ = y.turn_ = nullptr;
    y.filter_ = y.memory_[0] = y.memory_[1] = y.memory_[2] = nullptr;
  }
  convolver(const convolver&) = delete;
  convolver& operator=(const convolver&) = delete;
  convolver& operator=(convolver&&) = delete;
  ~convolver() {
    for (dnnl_primitive_t p : {primitive_, turn_}) dnnl_primitive_destroy(p);
    for (dnnl_memory_t m : {memory_[0], memory_[1], memory_[2], filter_}) dnnl_memory_destroy(m);
  }

  bool usable() const { return usable_; }
  /// How many bytes the filter takes in the primitive's order; 0 where that is the program's.
  std::size_t room() const { return room_; }

  /// data: of array, filter and result. room: for the filter, so many bytes.
  bool operator()(float* const* data, void* room, dnnl_stream_t stream) const {
    for (int r = 0; r < 3; ++r) dnnl_memory_set_data_handle(memory_[r], data[r]);
    if (turn_ != nullptr) dnnl_memory_set_data_handle(filter_, room);
    const bool backwards = wanted_ == window_role::filter;
    if (turn_ != nullptr && !backwards && !reorder(memory_[1], filter_, stream)) return false;
    const dnnl_exec_arg_t args[] = {
        {wanted_ == window_role::array ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, memory_[0]},
        {backwards ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, turn_ ? filter_ : memory_[1]},
        {wanted_ == window_role::result ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, memory_[2]}};
    if (dnnl_primitive_execute(primitive_, stream, 3, args) != dnnl_success) return false;
    return turn_ == nullptr || !backwards || reorder(filter_, memory_[1], stream);
  }

 private:
  bool reorder(dnnl_memory_t from, dnnl_memory_t to, dnnl_stream_t stream) const {
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    return dnnl_primitive_execute(turn_, stream, 2, args) == dnnl_success;
  }

  bool make(const convolution_shape& y, dnnl_engine_t engine) {
    dims array, filter, result;
    array.add(y.images.extent, y.images.step[0]);
    array.add(y.groups.extent * y.in.extent, y.in.step[0]);
    array.add_windows(y, window_role::array);
    if (y.groups.extent > 1) filter.add(y.groups.extent, y.groups.step[1]);
    filter.add(y.out.extent, y.out.step[1]);
    filter.add(y.in.extent, y.in.step[1]);
    filter.add_windows(y, window_role::filter);
    result.add(y.images.extent, y.images.step[2]);
    result.add(y.groups.extent * y.out.extent, y.out.step[2]);
    result.add_windows(y, window_role::result);
    description as_given[3], any;
    const bool last = y.channels_last();
    if (!array.describe(as_given[0], last) || !filter.describe(as_given[1], false) ||
        !result.describe(as_given[2], last) || !filter.describe_any(any)) {
      return false;
    }
    const dnnl_primitive_desc_t plan = plan_convolution(y, as_given[0], any, as_given[2], engine);
    if (plan == nullptr) return false;
    bool good = is_fast(y, plan) && dnnl_primitive_create(&primitive_, plan) == dnnl_success;
    for (int r = 0; r < 3; ++r)
      good = good && dnnl_memory_create(&memory_[r], as_given[r].get(), engine, DNNL_MEMORY_NONE) ==
                         dnnl_success;
    good = good && make_turn(as_given[1], plan, engine);
    dnnl_primitive_desc_destroy(plan);
    return good;
  }
  /// Products of taps are faster than scalar loops, than products over copied windows where
  /// channels lie innermost, and than loops that are made for more channels where each has a filter
  /// of its own.
  static bool is_fast(const convolution_shape& y, dnnl_primitive_desc_t plan) {
    const char* name = "";
    dnnl_primitive_desc_query(plan, dnnl_query_impl_info_str, 0, &name);
    const auto named = [&](const char* part) { return std::strstr(name, part) != nullptr; };
    const bool last = y.channels_last(), backwards = window_role(y.wanted) == window_role::filter;
    const bool depthwise = y.groups.extent > 1 && y.in.extent == 1 && y.out.extent == 1;
    if (depthwise && (last || backwards)) return named("dw");
    return !named("ref") && !(last && named("x64:gemm"));
  }
  bool make_turn(const description& given, dnnl_primitive_desc_t plan, dnnl_engine_t engine) {
    const bool backwards = wanted_ == window_role::filter;
    const auto liked = dnnl_primitive_desc_query_md(
        plan, backwards ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
    if (dnnl_memory_desc_equal(given.get(), liked)) return true;
    room_ = dnnl_memory_desc_get_size(liked);
    dnnl_primitive_desc_t turn = nullptr;
    if (dnnl_reorder_primitive_desc_create(&turn, backwards ? liked : given.get(), engine,
                                           backwards ? given.get() : liked, engine,
                                           nullptr) != dnnl_success) {
      return false;
    }
    const bool good = dnnl_primitive_create(&turn_, turn) == dnnl_success &&
                      dnnl_memory_create(&filter_, liked, engine, DNNL_MEMORY_NONE) == dnnl_success;
    dnnl_primitive_desc_destroy(turn);
    return good;
  }

  bool usable_ = false;
  window_role wanted_;
  std::size_t room_ = 0;
  dnnl_primitive_t primitive_ = nullptr, turn_ = nullptr;
  dnnl_memory_t memory_[3] = {};  // by window_role
  dnnl_memory_t filter_ = nullptr;
};

/// Where oneDNN has a fast path, whatever it gains.
inline bool convolve_by(const convolution_shape& y, const convolution& v, const float* a,
                        const float* b, float* c) {
  thread_local table<convolution_shape, convolver, 512> known;
  thread_local std::vector<char> kept;
  const convolver& it = known.find(y, [&](auto engine) { return convolver(y, engine); });
  if (!it.usable()) return false;
  constexpr std::size_t line = 64;  // vectors that cross one are slow
  if (it.room() > 0 && kept.size() < it.room() + line) kept = std::vector<char>(it.room() + line);
  void* room = kept.data();
  std::size_t left = kept.size();
  std::align(line, it.room(), room, left);
  float* data[3] = {};
  data[int(v.role[0])] = const_cast<float*>(a), data[int(v.role[1])] = const_cast<float*>(b);
  data[int(v.role[2])] = c;
  return it(data, room, known.stream());
}

/// Computes c, all of it; false where it is not faster by this way, and nothing is done.
inline bool convolve(const convolution& v, const float* a, const float* b, float* c) {
  convolution_shape y;
  return y.read(v) && pays(y) && convolve_by(y, v, a, b, c);
}

}  // namespace dimesh::local::onednn
