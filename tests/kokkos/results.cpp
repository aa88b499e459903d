// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does another Kokkos, or another space, compute the same? One line for each operation and gradient
// of operands that fixed keys draw: its name, its elements, the CRC of their bytes, and, for where
// bits may differ, a sum with weights of its own and the sum of magnitudes. compare.py holds two
// such lists against each other.
//
//   mpirun -n 2 results > here.txt
#include <cmath>
#include <cstdio>
#include <string>
#include <tuple>
#include <type_traits>

#include <dimesh/dimesh.hpp>
#include <dimesh/element/bfloat16.hpp>
#include <dimesh/nn/initialize.hpp>
#include <dimesh/nn/language_model.hpp>
#include <dimesh/op/attention.hpp>
#include <dimesh/op/batch_norm.hpp>
#include <dimesh/op/categorical.hpp>
#include <dimesh/op/concat.hpp>
#include <dimesh/op/convolution.hpp>
#include <dimesh/op/gather.hpp>
#include <dimesh/op/pooling.hpp>
#include <dimesh/op/reductions.hpp>
#include <dimesh/op/rotary.hpp>
#include <dimesh/op/scan.hpp>
#include <dimesh/op/slice.hpp>
#include <dimesh/op/sort.hpp>
#include <dimesh/optim/adafactor.hpp>
#include <dimesh/train/checksum.hpp>

namespace {

namespace dm = dimesh;
namespace nn = dimesh::nn;
using dm::index_t;

struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
struct row : dm::dim<48> {};
struct col : dm::dim<40> {};
struct across : dm::dim<24> {};
struct few : dm::dim<5> {};
struct beside : dm::dim<40> {};
struct two : dm::dim<2> {};
using whole = dm::layout<line>;
using rows = dm::layout<line, dm::split<row, ranks>>;
template <class T> using matrix = dm::tensor<T, rows, row, col>;
template <class T> using factor = dm::tensor<T, whole, col, across>;
template <class T> using vector = dm::tensor<T, whole, col>;

/// Adds what an element says to a sum with weights and to the sum of magnitudes.
struct figures {
  double weighted = 0, magnitude = 0;
  index_t count = 0;
  void add(double x) {
    const double w = dm::uniform_at<double>(dm::random_key{17}, count++) * 2 - 1;
    weighted += w * x, magnitude += std::abs(x);
  }
};

template <class X> void note(const std::string& name, const X& x) {
  const auto all = dm::to_rank(x);
  if (x.grid().rank() != 0) return;
  using T = dm::value_of<X>;
  std::string bytes;
  figures f;
  for (const T v : all) {
    bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
    f.add(static_cast<double>(v));
  }
  const char* const of = std::is_integral_v<T>       ? "whole"
                         : std::is_same_v<T, double> ? "double"
                         : std::is_same_v<T, float>  ? "float"
                                                     : "rounded";
  std::printf("%-40s %-6s %08x %.17g %.17g\n", name.c_str(), of, dm::detail::crc32(bytes),
              f.weighted, f.magnitude);
}
template <class... X> void note_each(const std::string& name, const std::tuple<X...>& all) {
  int k = 0;
  std::apply([&](const auto&... x) { (note(name + ", gradient " + std::to_string(k++), x), ...); },
             all);
}

/// The sum of cubes of what f gives. (That of squares does not change behind a norm.)
template <class F> struct cubes {
  F f;
  template <class P> constexpr auto operator()(const P& p) const {
    return std::apply(
        [this](const auto&... x) {
          const auto y = f(x...);
          return dm::sum(y * y * y);
        },
        p);
  }
};
/// f(x...), and how the sum of its cubes depends on each.
template <class F, class... X> void both(const std::string& name, const F& f, const X&... x) {
  note(name, f(x...));
  const std::tuple<X...> all(x...);
  note_each(name, dm::value_and_grad(cubes<F>{f}, all)().gradient);
}

template <class X> X drawn(const dm::grid<line>& g, std::uint64_t key) {
  return dm::uniform<X>(g, dm::random_key{key}, -1, 1);
}

template <class T> void elementwise(const dm::grid<line>& g, const std::string& of) {
  const auto x = drawn<matrix<T>>(g, 1), y = drawn<matrix<T>>(g, 2);
  const auto b = drawn<vector<T>>(g, 3);
  both(of + "x + b", [](const auto& u, const auto& v) { return u + v; }, x, b);
  both(
      of + "x * y / (2 + b)",
      [](const auto& u, const auto& v, const auto& w) { return u * v / (2 + w); }, x, y, b);
  both(
      of + "gelu(x + b) y",
      [](const auto& u, const auto& v, const auto& w) {
        return dm::map([](auto p, auto q, auto r) { return dm::gelu(p + r) * q; }, u, v, w);
      },
      x, y, b);
  both(of + "exp(tanh(x))", [](const auto& u) { return dm::exp(dm::tanh(u)); }, x);
  both(of + "sqrt(1 + x x)", [](const auto& u) { return dm::sqrt(1 + u * u); }, x);
  both(
      of + "select", [](const auto& u, const auto& v) { return dm::select(u > v, u, v * v); }, x,
      y);
  note(of + "cast", dm::cast<std::int32_t>(x * 100));
}

template <class T> void joined(const dm::grid<line>& g, const std::string& of) {
  const auto x = drawn<matrix<T>>(g, 4);
  both(of + "sum over all", [](const auto& u) { return dm::complete(dm::sum(u)); }, x);
  both(of + "sum over rows", [](const auto& u) { return dm::complete(dm::sum<row>(u)); }, x);
  both(of + "sum over columns", [](const auto& u) { return dm::sum<col>(u); }, x);
  both(of + "mean", [](const auto& u) { return dm::complete(dm::mean<row>(u)); }, x);
  both(of + "var", [](const auto& u) { return dm::var<row>(u); }, x);
  note(of + "max", dm::max<col>(x));
  note(of + "min over rows", dm::complete(dm::min<row>(x)));
  note(of + "prod", dm::prod<col>(x));
  both(of + "softmax", [](const auto& u) { return dm::softmax<col>(u); }, x);
  both(of + "log_sum_exp", [](const auto& u) { return dm::log_sum_exp<row>(u); }, x);
  const auto gain = drawn<vector<T>>(g, 5), bias = drawn<vector<T>>(g, 6);
  both(
      of + "layer_norm",
      [](const auto& u, const auto& v, const auto& w) {
        return dm::layer_norm<col>(1e-5, u, v, w);
      },
      x, gain, bias);
  both(
      of + "rms_norm", [](const auto& u, const auto& v) { return dm::rms_norm<col>(1e-5, u, v); },
      x, gain);
  both(
      of + "batch_norm", [](const auto& u) { return dm::batch_norm_all_reduce<col>(1e-5, u).y; },
      x);
  both(of + "cumsum", [](const auto& u) { return dm::cumsum<col>(u); }, x);
}

template <class T> void products(const dm::grid<line>& g, const std::string& of) {
  const auto x = drawn<matrix<T>>(g, 7), y = drawn<matrix<T>>(g, 8);
  const auto w = drawn<factor<T>>(g, 9);
  both(
      of + "einsum, rows",
      [](const auto& u, const auto& v) { return dm::einsum<row, across>(u, v); }, x, w);
  both(
      of + "einsum, over rows",
      [](const auto& u, const auto& v) {
        return dm::complete(dm::einsum<col, beside>(u, dm::rename<col, beside>(v)));
      },
      x, y);
  both(
      of + "einsum, inner product",
      [](const auto& u, const auto& v) { return dm::einsum<row>(u, v); }, x, y);
}
void rounded(const dm::grid<line>& g) {
  const auto x = dm::cast<dm::bfloat16>(drawn<matrix<float>>(g, 18));
  const auto w = dm::cast<dm::bfloat16>(drawn<factor<float>>(g, 19));
  note("bfloat16: einsum", dm::einsum<row, across>(x, w));
  note("bfloat16: x + x exp(x)", x + x * dm::exp(x));
  note("bfloat16: sum", dm::sum<col>(x));
}

void moved(const dm::grid<line>& g) {
  const auto x = drawn<matrix<float>>(g, 10), y = drawn<matrix<float>>(g, 11);
  both("permute", [](const auto& u) { return dm::permute<col, row>(u); }, x);
  both("slice", [](const auto& u) { return dm::slice<col, few>(u, 3); }, x);
  both("stack", [](const auto& u, const auto& v) { return dm::stack<two>(u, v); }, x, y);
  both("flip", [](const auto& u) { return dm::flip<col>(u); }, x);
  both("shift", [](const auto& u) { return dm::shift<row>(u, 3); }, x);
  both("all_gather", [](const auto& u) { return dm::all_gather<ranks>(u); }, x);
  both(
      "relayout",
      [](const auto& u) { return dm::relayout<dm::layout<line, dm::split<col, ranks>>>(u); }, x);
  both(
      "stencil",
      [](const auto& u) {
        return dm::stencil(
            [](const auto& v) {
              return dm::at<row>(v, -1) + dm::at<row>(v, 1) - dm::at<>(v) * dm::at<col>(v, 1);
            },
            dm::halo_exchange<1, row, col>(u, dm::boundary::periodic));
      },
      x);
}

void numbered(const dm::grid<line>& g) {
  const auto x = drawn<matrix<float>>(g, 12);
  const auto table = drawn<factor<float>>(g, 13);
  const auto ids = dm::argmax<col>(x);
  note("argmax", ids);
  both("take", [&ids](const auto& t) { return dm::take<col>(t, ids); }, table);
  both(
      "cross_entropy", [&ids](const auto& u) { return dm::softmax_cross_entropy<col>(u, ids); }, x);
  both("sort", [](const auto& u) { return dm::sort<col>(u); }, x);
  note("argsort", dm::argsort<col>(x, dm::order::descending));
  both("top_k", [](const auto& u) { return dm::top_k<col, few>(u).values; }, x);
  const auto best = dm::top_k<col, few>(x).places;
  both("gather", [&best](const auto& u) { return dm::gather<col, few>(u, best); }, x);
  note("one_hot", dm::one_hot<col>(ids));
  note("uniform", x);
  note("normal", dm::normal<matrix<double>>(g, dm::random_key{14}, 0, 1));
  note("categorical", dm::categorical<col>(dm::random_key{15}, x));
  both("dropout", [](const auto& u) { return dm::dropout(0.25, dm::random_key{16}, u); }, x);
}

struct batch : dm::dim<8> {};
struct length : dm::dim<24> {};
struct key : dm::dim<24> {};
struct model : dm::dim<32> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<8> {};
struct hidden : dm::dim<64> {};
struct vocab : dm::dim<48> {};
struct high : dm::dim<> {};
struct tall : dm::dim<3> {};
using data = dm::layout<line, dm::split<batch, ranks>>;

void windows(const dm::grid<line>& g) {
  const auto q = drawn<dm::tensor<float, data, batch, heads, length, head>>(g, 20);
  const auto k = drawn<dm::tensor<float, data, batch, heads, key, head>>(g, 21);
  const auto v = drawn<dm::tensor<float, data, batch, heads, key, head>>(g, 22);
  both(
      "attention, causal, dropout",
      [](const auto& a, const auto& b, const auto& c) {
        return dm::attention<length, key, head>(
            a, b, c, {.causal = true, .dropout = 0.25, .key = dm::random_key{23}});
      },
      q, k, v);
  both("rotary", [](const auto& a) { return dm::rotary<length, head>(a); }, q);
  const auto x = drawn<dm::tensor<float, data, batch, length, model>>(g, 24);
  const auto w = drawn<dm::tensor<float, whole, tall, model, hidden>>(g, 25);
  using over = dm::window<length, tall, high>;
  both(
      "convolution",
      [](const auto& a, const auto& b) {
        return dm::convolution<batch, high, hidden>(a, b, over{.stride = 2});
      },
      x, w);
  both(
      "mean_pool",
      [](const auto& a) { return dm::mean_pool(a, dm::pool_window<length, high>{.size = 3}); }, x);
  both(
      "max_pool",
      [](const auto& a) { return dm::max_pool(a, dm::pool_window<length, high>{.size = 3}); }, x);
}

struct form : nn::transformer {
  using batch = ::batch;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 2;
  static constexpr bool biases = false;  // the gradient of a key's is nothing but rounding
};
/// Three steps of a language model, by Adam and by Adafactor.
template <class Optimizer>
void trained(const dm::grid<line>& g, const std::string& by, const Optimizer& optimizer) {
  using gpt = nn::language_model<data, form>;
  const gpt m({.dropout = 0.1, .key = dm::random_key{30}});
  auto p = dm::make<typename gpt::parameters>(g);
  nn::initialize(p, dm::random_key{31});
  const auto text = [&g](index_t ahead) {
    return dm::generate<typename gpt::tokens>(
        g, [ahead](index_t b, index_t i) { return (b * 5 + (i + ahead) * 7) % 48; });
  };
  const auto x = text(0), y = text(1);
  auto state = optimizer.start(p);
  const auto loss = [&m](const auto& q, const auto& a, const auto& b) { return m.loss(q, a, b); };
  for (int step = 0; step < 3; ++step) {
    const auto [value, gradient] = dm::complete(dm::value_and_grad(loss, p)(x, y));
    note(by + ", loss " + std::to_string(step), value);
    if (step == 0)
      dm::for_each_tensor(
          [&](const auto& path, const auto& t) { note(by + ", gradient " + path.text(), t); },
          gradient);
    optimizer(p, gradient, state);
  }
  dm::for_each_tensor([&](const auto& path, const auto& t) { note(by + ", " + path.text(), t); },
                      p);
}

}  // namespace

int main(int argc, char** argv) {
  return dm::run(argc, argv, [] {
    const dm::grid<line> g;
    elementwise<float>(g, "");
    elementwise<double>(g, "double: ");
    joined<float>(g, "");
    joined<double>(g, "double: ");
    products<float>(g, "");
    products<double>(g, "double: ");
    rounded(g);
    moved(g);
    numbered(g);
    windows(g);
    // Both divide by the size of a gradient: of one that is nothing but rounding, without these.
    trained(g, "adam", dm::adam{.rate = 1e-2, .epsilon = 1e-3});
    trained(g, "adafactor", dm::adafactor{.rate = 1e-2, .epsilon1 = 1e-6});
  });
}
