// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/local/convolve.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using dimesh::index_t;
namespace dl = dimesh::local;

namespace {

/// Loops of one turn each but for the last, channels of the filter's own: c[i, o, f] = the sum over
/// t of a[i, o + t] b[t, f], rows of 5 elements, 3 taps, 2 channels.
dl::convolution with_loops(int many) {
  dl::convolution v;
  v.rest.outer = many;
  for (int i = 0; i < many; ++i) v.rest.extent[i] = 1;
  v.rest.extent[many - 2] = 2, v.rest.a_outer[many - 2] = 5, v.rest.c_outer[many - 2] = 6;
  v.rest.extent[many - 1] = 2, v.rest.b_outer[many - 1] = 1, v.rest.c_outer[many - 1] = 1;
  v.windows = 1;
  dl::window_loop& w = v.window[0];
  w.extent[0] = 5, w.extent[1] = 3, w.extent[2] = 3;
  w.step[0] = 1, w.step[1] = 2, w.step[2] = 2;
  return v;
}

TEST_CASE("convolve: as many loops as 16 dims have") {
  std::vector<double> a(10), b(6), c(12, 99);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i * i % 7);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i % 4) - 1;
  for (const int many : {2, dimesh::max_dims - 1}) {
    const dl::convolution v = with_loops(many);
    dl::convolve(v, a.data(), b.data(), c.data(), 12);
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t o = 0; o < 3; ++o)
        for (std::size_t f = 0; f < 2; ++f) {
          double sum = 0;
          for (std::size_t t = 0; t < 3; ++t) sum += a[5 * i + o + t] * b[2 * t + f];
          CHECK(c[6 * i + 2 * o + f] == sum);
        }
  }
}

TEST_CASE("convolve: an array without elements needs no address") {
  // The gradient of a filter of 3 x 3, channels of 4, from no rows: columns are the first window.
  dl::convolution v;
  v.windows = 2;
  v.rest.outer = 1, v.rest.extent[0] = 4;
  v.rest.a_outer[0] = v.rest.c_outer[0] = 1;
  v.role[0] = dl::window_role::array, v.role[1] = dl::window_role::result;
  v.role[2] = dl::window_role::filter;
  const index_t extents[2][3] = {{6, 3, 4}, {0, 3, 0}}, steps[2][3] = {{4, 4, 1}, {24, 12, 4}};
  for (int w = 0; w < 2; ++w) {
    std::copy_n(extents[w], 3, v.window[w].extent);
    std::copy_n(steps[w], 3, v.window[w].step);
  }
  std::vector<double> c(36, 99);
  dl::convolve<double>(v, nullptr, nullptr, c.data(), 36);
  CHECK(std::count(c.begin(), c.end(), 0.0) == 36);
}

TEST_CASE("convolve: more loops than there is room for are refused") {
  double c = 0;
  std::string said;
  try {
    dl::convolve(with_loops(dimesh::max_dims), &c, &c, &c, 1);
  } catch (const dimesh::error& e) {
    said = e.what();
  }
  CHECK(said ==
        "convolve: dims of array, filter and result, each counted once, are more than 16; merge "
        "some that stand side by side");
}

struct window_of {
  index_t n, taps, stride, dilation, before, results;
};
struct shape {
  index_t images, groups, in, out;
  std::vector<window_of> windows;
  bool channels_first = false;
};
constexpr index_t beyond = 16;  // elements around a result, which nobody may touch

/// Elements by role, all integers, and the same convolution for each of the three.
struct blocks {
  dl::convolution v;
  std::vector<float> of[3];

  explicit blocks(const shape& s) {
    index_t size[3] = {1, 1, 1};
    const auto add = [&](int role, index_t n, index_t& step) {
      step = size[role], size[role] *= n;
    };
    index_t step[3][4] = {};  // of images, groups, in, out
    const auto add_channels = [&] {
      add(0, s.in, step[0][2]), add(2, s.out, step[2][3]);
      for (int r : {0, 2}) add(r, s.groups, step[r][1]);
    };
    v.windows = static_cast<int>(s.windows.size());
    add(1, s.out, step[1][3]), add(1, s.in, step[1][2]), add(1, s.groups, step[1][1]);
    if (!s.channels_first) add_channels();
    for (int i = v.windows - 1; i >= 0; --i) {
      const window_of& given = s.windows[static_cast<std::size_t>(i)];
      dl::window_loop& w = v.window[i];
      w.stride = given.stride, w.dilation = given.dilation, w.before = given.before;
      const index_t extents[] = {given.n, given.taps, given.results};
      for (int r = 0; r < 3; ++r) add(r, w.extent[r] = extents[r], w.step[r]);
    }
    if (s.channels_first) add_channels();
    for (int r : {0, 2}) add(r, s.images, step[r][0]);
    const index_t extents[] = {s.images, s.groups, s.in, s.out};
    v.rest.outer = 4;
    for (int i = 0; i < 4; ++i) {
      v.rest.extent[i] = extents[i];
      v.rest.a_outer[i] = step[0][i], v.rest.b_outer[i] = step[1][i],
      v.rest.c_outer[i] = step[2][i];
    }
    for (int r = 0; r < 3; ++r)
      for (index_t i = 0; i < size[r]; ++i)
        of[r].push_back(static_cast<float>((i * i + 3 * i + r) % 7 - 3));
  }
  /// The one that computes the third from the two others.
  dl::convolution wanting(int third) const {
    dl::convolution w = v;
    const index_t* const step[] = {v.rest.a_outer, v.rest.b_outer, v.rest.c_outer};
    const int order[] = {third == 0 ? 2 : 0, third == 1 ? 2 : 1, third};
    index_t* const to[] = {w.rest.a_outer, w.rest.b_outer, w.rest.c_outer};
    for (int k = 0; k < 3; ++k) {
      w.role[k] = static_cast<dl::window_role>(order[k]);
      std::copy_n(step[order[k]], 4, to[k]);
    }
    return w;
  }
  const float* operand(const dl::convolution& w, int k) const {
    return of[static_cast<int>(w.role[k])].data();
  }
  std::vector<float> expected(int third) const {
    std::vector<float> sum(of[third].size(), 0);
    index_t at[3] = {};
    add_products(0, at, third, sum);
    return sum;
  }

 private:
  void add_products(int loop, const index_t* at, int third, std::vector<float>& sum) const {
    if (loop == 4 + v.windows) {
      const auto place = [&](int r) { return static_cast<std::size_t>(at[r]); };
      const int x = third == 0 ? 2 : 0, y = third == 1 ? 2 : 1;
      sum[place(third)] += of[x][place(x)] * of[y][place(y)];
    } else if (loop < 4) {
      for (index_t i = 0; i < v.rest.extent[loop]; ++i) {
        const index_t next[] = {at[0] + i * v.rest.a_outer[loop], at[1] + i * v.rest.b_outer[loop],
                                at[2] + i * v.rest.c_outer[loop]};
        add_products(loop + 1, next, third, sum);
      }
    } else {
      const dl::window_loop& w = v.window[loop - 4];
      for (index_t o = 0; o < w.results(); ++o)
        for (index_t t = 0; t < w.taps(); ++t) {
          const index_t i = w.stride * o + w.dilation * t - w.before;
          const index_t next[] = {at[0] + i * w.step[0], at[1] + t * w.step[1],
                                  at[2] + o * w.step[2]};
          if (i >= 0 && i < w.array()) add_products(loop + 1, next, third, sum);
        }
    }
  }
};

/// Runs way(v, a, b, c) for each of the three, into memory full of NaN; where it says that it has
/// done it, every element must be there, and none beside. How often it has.
template <class F> int check_each(const shape& s, const F& way) {
  const blocks x(s);
  int done = 0;
  for (int third = 0; third < 3; ++third) {
    CAPTURE(third);
    const dl::convolution v = x.wanting(third);
    const std::vector<float> expected = x.expected(third);
    std::vector<float> c(expected.size() + 2 * beyond, std::nanf(""));
    if (!way(v, x.operand(v, 0), x.operand(v, 1), c.data() + beyond)) continue;
    ++done;
    index_t wrong = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) wrong += c[i + beyond] != expected[i];
    CHECK(wrong == 0);
    for (std::size_t i = 0; i < beyond; ++i)
      CHECK((std::isnan(c[i]) && std::isnan(c[c.size() - 1 - i])));
  }
  return done;
}

const std::vector<shape> shapes = {
    {2, 1, 3, 5, {{7, 3, 1, 1, 1, 7}, {6, 3, 1, 1, 1, 6}}},  // odd, as many results
    {2, 1, 16, 16, {{8, 3, 1, 1, 1, 8}, {9, 3, 1, 1, 1, 9}}},
    {3, 1, 1, 8, {{6, 2, 1, 1, 0, 6}, {5, 4, 1, 1, 1, 5}}},  // even, one channel
    {2, 1, 8, 1, {{6, 3, 1, 1, 0, 4}, {6, 3, 1, 1, 0, 4}}},  // one channel of the result
    {1, 1, 1, 1, {{12, 5, 1, 1, 2, 12}, {11, 5, 1, 1, 2, 11}}},
    {2, 1, 17, 9, {{7, 1, 1, 1, 0, 7}, {7, 1, 1, 1, 0, 7}}},  // one tap
    {2, 1, 16, 32, {{7, 1, 2, 1, 0, 4}, {8, 1, 2, 1, 0, 4}}},  // one tap, strided
    {2, 1, 4, 16, {{9, 3, 2, 1, 1, 5}, {10, 3, 2, 1, 0, 5}}},  // strided
    {2, 1, 4, 4, {{9, 2, 3, 1, 0, 3}, {11, 3, 4, 1, 0, 3}}},  // strides wider than filters
    {1, 1, 8, 8, {{12, 3, 1, 2, 2, 12}, {13, 3, 2, 3, 3, 7}}},  // dilated
    {2, 1, 4, 6, {{2, 5, 1, 1, 2, 2}, {3, 7, 1, 1, 4, 4}}},  // less than a filter
    {2, 1, 16, 16, {{1, 3, 1, 1, 1, 1}, {9, 3, 1, 1, 2, 11}}},  // a thin block of a split dim
    {1, 1, 8, 8, {{6, 3, 1, 1, 0, 2}, {7, 3, 1, 1, -2, 3}}},  // elements that nobody sees
    {1, 1, 8, 8, {{3, 2, 1, 1, 4, 9}, {5, 3, 1, 1, 1, 5}}},  // results that see nothing
    {2, 3, 4, 8, {{6, 3, 1, 1, 1, 6}, {5, 3, 2, 1, 1, 3}}},  // groups
    {2, 24, 1, 1, {{6, 3, 1, 1, 1, 6}, {7, 5, 1, 1, 2, 7}}},  // a filter for each channel
    {2, 16, 1, 2, {{6, 3, 1, 1, 1, 6}, {7, 3, 2, 1, 1, 4}}},
    {3, 1, 8, 8, {{20, 5, 1, 1, 2, 20}}},  // one window, and three
    {3, 1, 1, 1, {{20, 4, 2, 2, 1, 8}}},
    {2, 1, 4, 16, {{4, 3, 1, 1, 1, 4}, {5, 2, 1, 1, 0, 4}, {6, 3, 2, 1, 1, 3}}},
    {1, 1, 2, 2, {{3, 2, 1, 1, 0, 2}, {3, 2, 1, 1, 1, 3}, {3, 1, 1, 1, 0, 3}, {4, 3, 1, 1, 1, 4}}},
    {2, 1, 3, 8, {{7, 3, 1, 1, 1, 7}, {6, 3, 2, 1, 1, 3}}, true},  // channels before windows
    {2, 1, 1, 8, {{7, 3, 1, 1, 1, 7}, {6, 2, 1, 2, 1, 6}}, true},
    {2, 2, 4, 4, {{7, 3, 1, 1, 1, 7}}, true},
    {2, 1, 8, 32, {{16, 3, 1, 1, 1, 16}, {12, 3, 1, 1, 1, 12}}},  // large enough for a library
    {2, 1, 64, 64, {{6, 3, 1, 1, 1, 6}, {6, 3, 1, 1, 1, 6}}, true},
    {1, 1, 128, 128, {{4, 3, 1, 1, 1, 4}, {4, 3, 1, 1, 1, 4}}},
    {0, 1, 4, 4, {{7, 3, 1, 1, 1, 7}, {6, 3, 1, 1, 1, 6}}},  // empty
    {2, 1, 0, 4, {{7, 3, 1, 1, 1, 7}, {6, 3, 1, 1, 1, 6}}},
    {2, 1, 4, 4, {{0, 3, 1, 1, 1, 0}, {6, 3, 1, 1, 1, 6}}},
    {2, 1, 4, 4, {{2, 3, 1, 1, 0, 0}, {6, 3, 1, 1, 1, 6}}},
};

TEST_CASE("convolve: a convolution and its transposes, of floats and of doubles") {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    CAPTURE(i);
    const shape& s = shapes[i];
    const blocks x(s);
    const auto size_of = [&](const dl::convolution& v) {
      return static_cast<index_t>(x.of[static_cast<int>(v.role[2])].size());
    };
    CHECK(check_each(s, [&](const dl::convolution& v, const float* a, const float* b, float* c) {
            dl::convolve(v, a, b, c, size_of(v));
            return true;
          }) == 3);
    CHECK(check_each(s, [&](const dl::convolution& v, const float*, const float*, float* c) {
            const auto wide = [&](int k) {
              const std::vector<float>& from = x.of[static_cast<int>(v.role[k])];
              return std::vector<double>(from.begin(), from.end());
            };
            std::vector<double> a = wide(0), b = wide(1), y = wide(2);
            dl::convolve(v, a.data(), b.data(), y.data(), size_of(v));
            std::transform(y.begin(), y.end(), c, [](double e) { return static_cast<float>(e); });
            return true;
          }) == 3);
  }
}

#ifdef DIMESH_WITH_ONEDNN
TEST_CASE("convolve: by oneDNN wherever it has a way") {
  int done = 0;
  for (int again = 0; again < 2; ++again)
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      CAPTURE(i);
      done += check_each(shapes[i],
                         [](const dl::convolution& v, const float* a, const float* b, float* c) {
                           dl::onednn::convolution_shape y;
                           return y.read(v) && dl::onednn::convolve_by(y, v, a, b, c);
                         });
    }
  WARN(done > 0);  // not on every processor
}

TEST_CASE("convolve: what oneDNN is told") {
  dl::onednn::convolution_shape y;
  blocks x({2, 3, 4, 5, {{7, 3, 2, 1, 1, 4}, {6, 2, 1, 2, 1, 6}}});
  CHECK(y.read(x.wanting(2)));
  CHECK((y.images.extent == 2 && y.groups.extent == 3 && y.in.extent == 4 && y.out.extent == 5));
  CHECK((y.windows == 2 && y.window[0].stride == 2 && y.window[0].behind == 1));
  CHECK((y.window[1].dilation == 2 && y.window[1].before == 1 && y.window[1].behind == 1));
  CHECK((y.channels_last() && y.results() == 2 * 4 * 6 && y.filter_size() == 3 * 4 * 5 * 3 * 2));
  const auto first = y;
  std::swap(x.v.window[0], x.v.window[1]);  // windows in the order of the array's dims
  CHECK((y.read(x.wanting(2)) && y == first && y.hash() == first.hash()));
  CHECK((y.read(x.wanting(0)) && !(y == first)));
  dl::convolution v = x.wanting(2);
  v.rest.a_outer[1] += 1;  // groups that are not one dim with their channels
  CHECK(!y.read(v));
  v = x.wanting(2);
  v.window[0].before = -1;
  CHECK(!y.read(v));
  v = x.wanting(2);  // images that lie apart
  v.rest.outer = 5, v.rest.extent[4] = 2, v.rest.a_outer[4] = 9999, v.rest.c_outer[4] = 8888;
  CHECK(!y.read(v));
  v.rest.a_outer[4] = 2 * v.rest.a_outer[0], v.rest.c_outer[4] = 2 * v.rest.c_outer[0];
  CHECK((y.read(v) && y.images.extent == 4));
}
#endif

}  // namespace
