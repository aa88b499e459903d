// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a typed convolution cost beside oneDNN's, called by hand on the same blocks? Images and
// filters lie as the program has them, channels last; oneDNN may turn the filter before the clock
// starts. Shapes are those of a ResNet on images of 28 x 28. Bar: 0.95 of its speed.
//
//   benchmarks/convolution [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/op/convolution.hpp>

#ifdef DIMESH_WITH_ONEDNN
#include <dnnl.hpp>
#endif

#include <cmath>
#include <cstring>

#include "support/race.hpp"

namespace {

namespace dm = dimesh;

struct one : dm::axis<1> {};
struct alone : dm::mesh<one> {};
using plain = dm::layout<alone>;
struct image : dm::dim<> {};
struct height : dm::dim<> {};
struct width : dm::dim<> {};
struct in : dm::dim<> {};
struct tall : dm::dim<> {};
struct wide : dm::dim<> {};
struct high : dm::dim<> {};
struct across : dm::dim<> {};
struct out : dm::dim<> {};

double budget = 1.5;
int bars = 0, met = 0;

template <class X> void fill(X& x, double scale) {
  for (dm::index_t i = 0; i < x.local_size(); ++i)
    x.data()[i] = static_cast<float>(scale * static_cast<double>(i % 17 - 8));
}

#ifdef DIMESH_WITH_ONEDNN
/// oneDNN's convolution, made once, and the filter in the order that it likes.
class primitive {
 public:
  primitive(long n, long size, long c, long f, long taps, long stride, float* x, float* w, float* y)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using tag = dnnl::memory::format_tag;
    constexpr auto f32 = dnnl::memory::data_type::f32;
    const long to = (size + stride - 1) / stride;
    const long around = std::max(0l, (to - 1) * stride + taps - size);
    const dnnl::memory::dims before{around / 2, around / 2};
    const dnnl::memory::dims behind{around - around / 2, around - around / 2};
    const dnnl::memory::desc from({n, c, size, size}, f32, tag::nhwc);
    const dnnl::memory::desc kernel({f, c, taps, taps}, f32, tag::hwio);
    const dnnl::memory::desc any({f, c, taps, taps}, f32, tag::any);
    const dnnl::memory::desc result({n, f, to, to}, f32, tag::nhwc);
    const dnnl::memory::dims strides{stride, stride};
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::convolution_forward::primitive_desc plan(
        engine_, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, from, any,
        result, strides, before, behind);
#else
    const dnnl::convolution_forward::desc what(dnnl::prop_kind::forward_inference,
                                               dnnl::algorithm::convolution_direct, from, any,
                                               result, strides, before, behind);
    const dnnl::convolution_forward::primitive_desc plan(what, engine_);
#endif
    it_ = dnnl::convolution_forward(plan);
    x_ = dnnl::memory(from, engine_, x);
    y_ = dnnl::memory(result, engine_, y);
    w_ = dnnl::memory(plan.weights_desc(), engine_);
    dnnl::memory as_given(kernel, engine_, w);
    dnnl::reorder(as_given, w_).execute(stream_, as_given, w_);
    stream_.wait();
  }
  void operator()() {
    it_.execute(stream_, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, w_}, {DNNL_ARG_DST, y_}});
    stream_.wait();
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::convolution_forward it_;
  dnnl::memory x_, w_, y_;
};

void compare(const dm::grid<alone>& grid, long n, long size, long c, long f, long taps,
             long stride) {
  dm::tensor<float, plain, image, height, width, in> x(grid, image{n}, height{size}, width{size},
                                                       in{c});
  dm::tensor<float, plain, tall, wide, in, out> w(grid, tall{taps}, wide{taps}, in{c}, out{f});
  fill(x, 0.25);
  fill(w, 0.125);
  const auto typed = [&] {
    return dm::convolution<image, high, across, out>(
        x, w, dm::window<height, tall, high>{.stride = stride, .around = dm::padding::same},
        dm::window<width, wide, across>{.stride = stride, .around = dm::padding::same});
  };
  const auto y = typed();
  auto theirs = dm::clone(y);
  primitive twin(n, size, c, f, taps, stride, x.data(), w.data(), theirs.data());
  twin();
  for (dm::index_t i = 0; i < y.local_size(); i += 97)
    if (std::abs(y.data()[i] - theirs.data()[i]) > 1e-3f * (1 + std::abs(theirs.data()[i])))
      std::printf("DIFFERS at %ld: %g, %g\n", static_cast<long>(i), double(y.data()[i]),
                  double(theirs.data()[i]));
  const bench::race r(MPI_COMM_NULL, budget);
  const auto [ours, hand] = r([&] { auto z = typed(); }, [&] { twin(); });
  char what[96];
  std::snprintf(what, sizeof what, "%ld x %ldx%ldx%ld -> %ld, %ldx%ld taps, stride %ld", n, size,
                size, c, f, taps, taps, stride);
  ++bars;
  met += bench::report(what, ours, {hand}, 0.95);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) budget = 0.2;
  return dm::run(argc, argv, [&] {
#ifdef DIMESH_WITH_ONEDNN
    const dm::grid<alone> grid;
    bench::headline("convolution; twin: oneDNN by hand, its filter turned before");
    compare(grid, 32, 28, 1, 32, 3, 1);
    compare(grid, 32, 28, 32, 32, 3, 1);
    compare(grid, 32, 28, 32, 64, 3, 2);
    compare(grid, 32, 14, 64, 64, 3, 1);
    compare(grid, 32, 14, 64, 128, 1, 2);
    compare(grid, 32, 7, 128, 128, 3, 1);
    std::printf("%d of %d bars met\n", met, bars);
#else
    std::printf("built without oneDNN: nothing to compare with\n");
#endif
  });
}
