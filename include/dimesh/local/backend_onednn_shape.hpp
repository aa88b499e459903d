// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a convolution in the words of oneDNN, and is it faster there? Images, groups, channels
// and windows are found by which of array, filter and result lack a loop; several dims of one kind
// are one to oneDNN where they lie one behind the other.
//
//   convolution_shape y;
//   y.read(v)   -> false: oneDNN has no words for it
//   pays(y)     -> by shapes alone, so that equal calls round equally on every rank
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "dimesh/local/backend_onednn.hpp"
#include "dimesh/local/convolution.hpp"

namespace dimesh::local::onednn {

/// A convolution in oneDNN's words: everything that a primitive depends on. Steps are those in
/// array, filter and result, by window_role.
struct convolution_shape {
  static constexpr int most = 3;  // windows
  struct loop {
    index_t extent = 1, step[3] = {};
    bool operator==(const loop&) const = default;
  };
  struct moves {
    index_t extent[3] = {1, 1, 1};
    index_t stride = 1, dilation = 1, before = 0, behind = 0;
    index_t pairs = 1;  // of results and taps
    index_t step[3] = {};
    bool operator==(const moves&) const = default;
  };

  index_t wanted = 0;  // a window_role
  index_t windows = 0;
  loop images, groups, in, out;  // channels: of one group
  moves window[most];  // in the order of the array's dims

  bool operator==(const convolution_shape&) const = default;
  std::uint64_t hash() const {
    struct numbers {
      index_t value[sizeof(convolution_shape) / sizeof(index_t)];
    };
    return hash_of(std::bit_cast<numbers>(*this).value);
  }

  /// False where oneDNN has no words for it.
  bool read(const convolution& v) {
    *this = {};
    wanted = index_t(v.role[2]);
    bool fits = v.windows <= most && v.rest.m * v.rest.n * v.rest.k == 1;
    for (int i = 0; fits && i < v.rest.outer; ++i) fits = read_loop(v, i);
    for (int i = 0; fits && i < v.windows; ++i) fits = read_window(v.window[i]);
    return fits && join_groups(window_role::array, in) && join_groups(window_role::result, out);
  }

  /// Innermost in array and result.
  bool channels_last() const {
    const auto last = [&](window_role r, const loop& channels) {
      const index_t n = groups.extent * channels.extent;
      return n == 1 || channels.step[int(r)] == 1;
    };
    return last(window_role::array, in) && last(window_role::result, out);
  }
  /// Of one channel.
  index_t results() const {
    index_t n = images.extent;
    for (const moves& w : window) n *= w.extent[2];
    return n;
  }
  index_t filter_size() const {
    index_t n = groups.extent * in.extent * out.extent;
    for (const moves& w : window) n *= w.extent[1];
    return n;
  }

 private:
  /// A dim that is in no window: what it is follows from which of the three lacks it.
  bool read_loop(const convolution& v, int i) {
    const index_t n = v.rest.extent[i];
    if (n < 2) return n == 1;
    const index_t step[] = {v.rest.a_outer[i], v.rest.b_outer[i], v.rest.c_outer[i]};
    detail::loop l{n, 0, 0, 0};
    index_t* const by_role[] = {&l.a, &l.b, &l.c};
    for (int k = 0; k < 3; ++k) *by_role[int(v.role[k])] = step[k];
    if ((l.a == 0) + (l.b == 0) + (l.c == 0) > 1) return false;
    loop& into = l.b == 0 ? images : l.c == 0 ? in : l.a == 0 ? out : groups;
    detail::loop all{into.extent, into.step[0], into.step[1], into.step[2]};
    if (!detail::fuse(all, l)) return false;
    into = {all.extent, {all.a, all.b, all.c}};
    return true;
  }
  /// Results that see nothing, and elements that no result sees, are not for oneDNN.
  bool read_window(const window_loop& w) {
    if (w.array() < 1 || w.taps() < 1 || w.results() < 1) return false;
    const index_t reach = w.dilation * (w.taps() - 1) + 1;
    const index_t behind = w.place(w.results() - 1, w.taps() - 1) + 1 - w.array();
    if (w.before < 0 || w.before >= reach || behind <= -w.stride || behind >= reach) return false;
    int i = int(windows++);
    for (; i > 0 && window[i - 1].step[0] < w.step[0]; --i) window[i] = window[i - 1];
    window[i] = {.stride = w.stride,
                 .dilation = w.dilation,
                 .before = w.before,
                 .behind = std::max(behind, index_t{0}),
                 .pairs = pairs_of(w)};
    std::copy_n(w.extent, 3, window[i].extent);
    std::copy_n(w.step, 3, window[i].step);
    return true;
  }
  /// Channels of all groups are one dim to oneDNN.
  bool join_groups(window_role r, loop& channels) const {
    if (groups.extent == 1) return true;
    index_t& step = channels.step[int(r)];
    if (channels.extent == 1) step = groups.step[int(r)];
    return groups.step[int(r)] == channels.extent * step;
  }
};

/// Is oneDNN faster than products of taps, as far as shapes tell? These are ahead where a product
/// is large in every direction, where much is summed to little, where many taps meet nothing, and
/// where the filter is so large beside what it meets that turning it costs more.
inline bool pays(const convolution_shape& y) {
  const auto wanted = window_role(y.wanted);
  const index_t results = y.results(), filter = y.filter_size();
  const index_t in = y.in.extent, out = y.out.extent;
  index_t taps = 1, met = 1, places = 1;
  bool strided = false;
  for (const auto& w : y.window) {
    taps *= w.extent[1], met *= w.pairs, places *= w.extent[2];
    strided = strided || w.stride > 1;
  }
  const index_t work = in * out * met;  // of one image and group
  if (y.images.extent * y.groups.extent * work < 8192) return false;
  if (3 * met < taps * places || (taps == 1 && y.groups.extent > 1)) return false;
  if (wanted != window_role::filter && filter >= 65536 && results < (filter < 1048576 ? 128 : 256))
    return false;
  if (!y.channels_last()) {
    const index_t most_in = wanted == window_role::array    ? 2 * out
                            : wanted == window_role::filter ? 4 * out
                                                            : in;
    return in <= most_in && (places >= 48 || (places >= 16 && work >= 32768));
  }
  if (y.groups.extent > 1) return true;
  const bool strided_wide = strided && in >= 32 && out >= 128;
  switch (wanted) {
    case window_role::result:
      return !(strided_wide || (in >= 128 && out >= 128) || (out == 1 && in >= 8));
    case window_role::array:
      return !(in == 1 && out >= 24);
    default:
      return !(strided_wide || (out <= 8 && in >= 16) || (out == 1 && in >= 4));
  }
}

}  // namespace dimesh::local::onednn
