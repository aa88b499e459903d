// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do a typed convolution and its gradients cost beside oneDNN's, called by hand on the same
// blocks? Images and filters lie as the program has them, channels last; oneDNN may turn the filter
// before the clock starts, and leaves its gradient as it likes. Shapes are those of a ResNet on
// images of 28 x 28. Bar: 0.95 of its speed. (PyTorch: peers/convolution_torch.py.)
//
//   benchmarks/convolution [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/vjp.hpp>
#include <dimesh/op/convolution.hpp>

#ifdef DIMESH_WITH_ONEDNN
#include <dnnl.hpp>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

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
/// A convolution of n images of size x size with c channels, by f filters; padding::same.
struct shape {
  long n, size, c, f, taps, stride;
  long to() const { return (size + stride - 1) / stride; }
  long around() const { return std::max(0l, (to() - 1) * stride + taps - size); }
};

/// oneDNN's primitives for one shape, made once. Filter and its gradient are in the order that each
/// likes, turned before.
class by_hand {
  using memory = dnnl::memory;
  using desc = memory::desc;

 public:
  by_hand(const shape& s, float* x, float* w, float* y, float* ybar, float* xbar)
      : engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_),
        before_{s.around() / 2, s.around() / 2},
        behind_{s.around() - s.around() / 2, s.around() - s.around() / 2},
        strides_{s.stride, s.stride},
        from_({s.n, s.c, s.size, s.size}, f32, memory::format_tag::nhwc),
        filter_({s.f, s.c, s.taps, s.taps}, f32, memory::format_tag::any),
        result_({s.n, s.f, s.to(), s.to()}, f32, memory::format_tag::nhwc),
        x_(from_, engine_, x),
        y_(result_, engine_, y),
        ybar_(result_, engine_, ybar),
        xbar_(from_, engine_, xbar) {
    memory given({{s.f, s.c, s.taps, s.taps}, f32, memory::format_tag::hwio}, engine_, w);
    make_forward(given);
    make_backward(given);
    stream_.wait();
  }
  void forward() {
    run(forward_, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, w_}, {DNNL_ARG_DST, y_}});
  }
  void backward_data() {
    run(data_,
        {{DNNL_ARG_DIFF_DST, ybar_}, {DNNL_ARG_WEIGHTS, back_w_}, {DNNL_ARG_DIFF_SRC, xbar_}});
  }
  void backward_weights() {
    run(weights_, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_DIFF_DST, ybar_}, {DNNL_ARG_DIFF_WEIGHTS, wbar_}});
  }
  /// The filter's gradient in the program's order.
  void gradient_to(const shape& s, float* w) {
    memory given({{s.f, s.c, s.taps, s.taps}, f32, memory::format_tag::hwio}, engine_, w);
    dnnl::reorder(wbar_, given).execute(stream_, wbar_, given);
    stream_.wait();
  }

 private:
  static constexpr auto f32 = memory::data_type::f32;

  void run(const dnnl::primitive& p, const std::unordered_map<int, memory>& arguments) {
    p.execute(stream_, arguments);
    stream_.wait();
  }
  memory turned(memory& given, const desc& to) {
    memory w(to, engine_);
    dnnl::reorder(given, w).execute(stream_, given, w);
    return w;
  }
  void make_forward(memory& given) {
    constexpr auto training = dnnl::prop_kind::forward_training;
    constexpr auto direct = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
    plan_ = {engine_, training, direct, from_, filter_, result_, strides_, before_, behind_};
#else
    plan_ = {{training, direct, from_, filter_, result_, strides_, before_, behind_}, engine_};
#endif
    forward_ = dnnl::convolution_forward(plan_);
    w_ = turned(given, plan_.weights_desc());
  }
  void make_backward(memory& given) {
    constexpr auto direct = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::convolution_backward_data::primitive_desc data(
        engine_, direct, from_, filter_, result_, strides_, before_, behind_, plan_);
    const dnnl::convolution_backward_weights::primitive_desc weights(
        engine_, direct, from_, filter_, result_, strides_, before_, behind_, plan_);
#else
    const dnnl::convolution_backward_data::primitive_desc data(
        {direct, from_, filter_, result_, strides_, before_, behind_}, engine_, plan_);
    const dnnl::convolution_backward_weights::primitive_desc weights(
        {direct, from_, filter_, result_, strides_, before_, behind_}, engine_, plan_);
#endif
    data_ = dnnl::convolution_backward_data(data);
    back_w_ = turned(given, data.weights_desc());
    weights_ = dnnl::convolution_backward_weights(weights);
    wbar_ = memory(weights.diff_weights_desc(), engine_);
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  memory::dims before_, behind_, strides_;
  desc from_, filter_, result_;
  memory x_, y_, ybar_, xbar_, w_, back_w_, wbar_;
  dnnl::convolution_forward::primitive_desc plan_;
  dnnl::primitive forward_, data_, weights_;
};

void require_equal(const char* what, const auto& ours, const auto& theirs) {
  for (dm::index_t i = 0; i < ours.local_size(); i += 97)
    if (!(std::abs(ours.data()[i] - theirs.data()[i]) <= 1e-3f * (1 + std::abs(theirs.data()[i]))))
      std::printf("%s DIFFERS at %ld: %g, %g\n", what, static_cast<long>(i), double(ours.data()[i]),
                  double(theirs.data()[i]));
}

void compare(const dm::grid<alone>& grid, const shape& s) {
  dm::tensor<float, plain, image, height, width, in> x(grid, image{s.n}, height{s.size},
                                                       width{s.size}, in{s.c});
  dm::tensor<float, plain, tall, wide, in, out> w(grid, tall{s.taps}, wide{s.taps}, in{s.c},
                                                  out{s.f});
  fill(x, 0.25);
  fill(w, 0.125);
  const auto typed = [&](const auto& filter) {
    return dm::convolution<image, high, across, out>(
        x, filter, dm::window<height, tall, high>{.stride = s.stride, .around = dm::padding::same},
        dm::window<width, wide, across>{.stride = s.stride, .around = dm::padding::same});
  };
  const auto y = typed(w);
  const auto back = [&] {
    const dm::padding same = dm::padding::same;
    return dm::transposed_convolution<image, height, width, in>(
        y, w, dm::window<high, tall, height>{.stride = s.stride, .around = same, .extent = s.size},
        dm::window<across, wide, width>{.stride = s.stride, .around = same, .extent = s.size});
  };
  dm::tensor<float, dm::gradient<plain>, image, high, across, out> ybar(
      grid, image{s.n}, high{s.to()}, across{s.to()}, out{s.f});
  std::copy_n(y.data(), y.local_size(), ybar.data());
  const auto with_filter = [&] {
    auto [value, pullback] = dm::vjp(typed, w);
    return pullback(ybar);
  };
  const auto xbar = back();
  const auto wbar = with_filter();
  auto their_y = dm::clone(y);
  auto their_xbar = dm::clone(xbar);
  auto their_wbar = dm::clone(wbar);
  by_hand twin(s, x.data(), w.data(), their_y.data(), ybar.data(), their_xbar.data());
  twin.forward(), twin.backward_data(), twin.backward_weights();
  twin.gradient_to(s, their_wbar.data());
  require_equal("result", y, their_y);
  require_equal("array's gradient", xbar, their_xbar);
  require_equal("filter's gradient", wbar, their_wbar);
  std::printf("%ld x %ldx%ldx%ld -> %ld, %ldx%ld taps, stride %ld\n", s.n, s.size, s.size, s.c, s.f,
              s.taps, s.taps, s.stride);
  const bench::race r(MPI_COMM_NULL, budget);
  const auto against = [&](const char* what, const auto& f, const auto& hand) {
    const auto [ours, theirs] = r([&] { auto z = f(); }, hand);
    ++bars;
    met += bench::report(what, ours, {theirs}, 0.95);
  };
  against("  forward", [&] { return typed(w); }, [&] { twin.forward(); });
  against("  gradient of the array", back, [&] { twin.backward_data(); });
  against("  forward and gradient of the filter", with_filter,
          [&] { twin.forward(), twin.backward_weights(); });
}
#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) budget = 0.2;
  return dm::run(argc, argv, [&] {
#ifdef DIMESH_WITH_ONEDNN
    const dm::grid<alone> grid;
    bench::headline("convolution; twin: oneDNN by hand, its filter turned before");
    for (const shape& s :
         {shape{32, 28, 1, 32, 3, 1}, shape{32, 28, 32, 32, 3, 1}, shape{32, 28, 32, 64, 3, 2},
          shape{32, 14, 64, 64, 3, 1}, shape{32, 14, 64, 128, 1, 2}, shape{32, 7, 128, 128, 3, 1}})
      compare(grid, s);
    std::printf("%d of %d bars met\n", met, bars);
#else
    std::printf("built without oneDNN: nothing to compare with\n");
#endif
  });
}
