// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast is a feed-forward layer of experts beside the same written with MPI and BLAS (the better
// of OpenBLAS and oneDNN), forward, and forward and backward? Bar: 0.95 of its speed. And how long
// do routing, dispatch and combining take beside the products of the experts? Bar: 0.05. Is it
// faster to send slots in chunks, and to compute on some while others travel? Eight experts, two a
// token, 2048 tokens a rank, 512 wide, 2048 inside; four times as many tokens where experts become
// more, at a bar of 1.10.
// ranks: 1 2 4
//
//   mpirun -n 2 benchmarks/experts [--quick]     256 tokens a rank
#include <dimesh/dimesh.hpp>
#include <dimesh/fill.hpp>
#include <dimesh/grad/vjp.hpp>
#include <dimesh/nn/moe/experts.hpp>

#include <cstdio>
#include <cstring>

#include "handwritten/experts.hpp"
#include "support/race.hpp"

namespace {

namespace dm = dimesh;
namespace nn = dm::nn;
using dm::index_t;

struct group : dm::dim<> {};
struct token : dm::dim<> {};
struct wide : dm::dim<512> {};
struct inside : dm::dim<2048> {};
struct expert : dm::dim<8> {};
struct choice : dm::dim<2> {};
struct slot : dm::dim<> {};
struct no_heads : dm::dim<1> {};
struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};

struct form : nn::transformer {
  using batch = group;
  using length = token;
  using model = wide;
  using heads = dm::shape<no_heads>;
  using head = no_heads;
  using hidden = inside;
  using vocab = no_heads;
  using expert = ::expert;
  using choice = ::choice;
  using slot = ::slot;
  static constexpr int layers = 1;
  static constexpr bool biases = false;
  static constexpr nn::activation act = nn::activation::relu;
  static constexpr nn::gating gate{.capacity_factor = 1.25};
};
using tokens = dm::layout<line, dm::split<group, ranks>>;
using experts = dm::layout<line, dm::split<expert, ranks>>;
using x_type = dm::tensor<float, tokens, group, token, wide>;

/// A number in [-0.5, 0.5) for each place.
float number(index_t k, index_t i) {
  const auto bits = static_cast<std::uint64_t>(i * 16 + k) * 0x9e3779b97f4a7c15ull;
  return static_cast<float>(bits >> 40) / 16777216.0f - 0.5f;
}
using weights = nn::mixture_parameters<experts, form>;

template <class Form> struct feed_forward {
  auto operator()(const auto& p, const auto& x) const {
    return nn::mixture<experts>(nn::model<tokens, Form>{}, p, x).y;
  }
};
constexpr feed_forward<form> forward;

/// The experts of each rank by halves.
struct halves : form {
  static constexpr int expert_chunks = 2;
};
constexpr feed_forward<halves> in_chunks;

/// As many experts as the run says.
struct any_expert : dm::dim<> {
  using dm::dim<>::dim;
};
struct any_form : form {
  using expert = any_expert;
};
using any_experts = dm::layout<line, dm::split<any_expert, ranks>>;
using any_weights = nn::mixture_parameters<any_experts, any_form>;
struct forward_of_any {
  auto operator()(const auto& p, const auto& x) const {
    return nn::mixture<any_experts>(nn::model<tokens, any_form>{}, p, x).y;
  }
};

/// Throws where a tensor's blocks are not those of an array: by the 2-norm of the difference, since
/// one product near 0 that is rounded to the other side of it moves single elements by their size.
template <class X> void require(const char* what, const X& x, const std::vector<float>& y) {
  if (static_cast<std::size_t>(x.local_size()) != y.size())
    throw dm::error("experts: the twin's blocks are others");
  double squares[2] = {};
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double apart = static_cast<double>(x.data()[i]) - static_cast<double>(y[i]);
    squares[0] += apart * apart,
        squares[1] += static_cast<double>(y[i]) * static_cast<double>(y[i]);
  }
  MPI_Allreduce(MPI_IN_PLACE, squares, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (!(squares[0] < 1e-4 * squares[1]))
    throw dm::error("experts: " + std::string(what) + " is not the twin's");
}

/// The layer and its hand-written twin, on the same numbers.
struct contest {
  weights p;
  x_type x;
  x_type y_bar;
  handwritten::expert_layer twin;

  contest(const dm::grid<line>& g, index_t length, index_t groups = 4)
      : twin(sizes_of(g, static_cast<int>(length), static_cast<int>(groups)), MPI_COMM_WORLD) {
    const index_t all = groups * g.ranks();
    const auto at = [=](index_t k) {
      return [=](index_t b, index_t t, index_t m) {
        return number(k, (b * length + t) * wide::extent + m);
      };
    };
    x = dm::generate<x_type>(g, at(0), group{all}, token{length});
    y_bar = dm::generate<x_type>(g, at(1), group{all}, token{length});
    p = dm::make<weights>(g);
    p.router = dm::generate<decltype(p.router)>(
        g, [](index_t m, index_t e) { return number(2, m * expert::extent + e); });
    fill(p.up, 3), fill(p.down, 4);
    copy(x, twin.x), copy(dm::relayout<tokens>(p.router), twin.router);
    copy(p.up, twin.up), copy(p.down, twin.down);
  }
  /// Of weights and tokens.
  template <class F> auto gradients(const F& f) const {
    auto run = dm::vjp(f, p, x);
    auto [p_bar, x_bar] = run.pullback(y_bar);
    return std::pair(dm::complete(p_bar), dm::complete(x_bar));
  }

 private:
  static handwritten::expert_sizes sizes_of(const dm::grid<line>& g, int length, int groups) {
    const auto slots = static_cast<int>(nn::capacity_of(form::gate, 2, length, expert::extent));
    return {g.ranks(), groups, length, expert::extent, wide::extent, inside::extent, slots};
  }
  /// Blocks of whole experts.
  template <class X> static void fill(X& x, index_t k) {
    const index_t first = x.grid().rank() * x.local_size();
    for (index_t i = 0; i < x.local_size(); ++i) x.data()[i] = 0.1f * number(k, first + i);
  }
  template <class X> static void copy(const X& x, std::vector<float>& to) {
    if (static_cast<std::size_t>(x.local_size()) != to.size())
      throw dm::error("experts: the twin's blocks are others");
    std::copy_n(x.data(), x.local_size(), to.data());
  }
};

void compare(const dm::grid<line>& g, index_t length) {
  const contest both(g, length);
  auto twin = both.twin, other = both.twin;
  other.onednn = true;
  const std::vector<float> y_bar(both.y_bar.data(), both.y_bar.data() + both.y_bar.local_size());
  twin.forward(), twin.backward(y_bar);
  require("the result", forward(both.p, both.x), twin.y);
  {
    const auto [p_bar, x_bar] = both.gradients(forward);
    require("the gradient of the router", dm::relayout<tokens>(p_bar.router), twin.router_bar);
    require("the gradient of up", p_bar.up, twin.up_bar);
    require("the gradient of down", p_bar.down, twin.down_bar);
    require("the gradient of tokens", x_bar, twin.x_bar);
  }
  const bench::race race(MPI_COMM_WORLD, 6.0, 5);
  const bool speaks = g.rank() == 0;
  const auto [f, tf, of] = race([&] { (void)forward(both.p, both.x); }, [&] { twin.forward(); },
                                [&] { other.forward(); });
  bench::report("experts, forward", f, {tf, of}, 0.95, false, !speaks);
  const auto [b, tb, ob] =
      race([&] { (void)both.gradients(forward); }, [&] { twin.forward(), twin.backward(y_bar); },
           [&] { other.forward(), other.backward(y_bar); });
  bench::report("experts, forward and backward", b, {tb, ob}, 0.95, false, !speaks);
}

/// Routing, dispatch and combining of a group of 2048 tokens, beside the products of experts.
void compare_dispatch(const dm::grid<line>& g, index_t length) {
  const contest both(g, 4 * length, 1);
  const auto p =
      dm::softmax<expert>(nn::detail::router_logits<expert, wide>(both.x, both.p.router));
  const auto r = nn::route<token, expert, choice>(form::gate, p);
  const auto slots = [&] {
    return nn::to_slots<token, choice, expert, slot>(both.x, r.slots, expert{}, slot{r.capacity});
  };
  const auto there = dm::relayout<experts>(slots());
  const auto filled = dm::relayout<experts>(
      nn::detail::count_filled<token, choice, expert>(r.slots, expert::extent, r.capacity));
  const auto products = [&] {
    (void)nn::detail::expert_feed_forward<expert>(nn::model<experts, form>{}, both.p, there,
                                                  filled);
  };
  const auto moves = [&] {
    (void)nn::route<token, expert, choice>(form::gate, p);
    (void)nn::from_slots<token, choice, expert, slot>(slots(), r.gates, r.slots);
  };
  const auto [m, w] = bench::race(MPI_COMM_WORLD, 3.0, 5)(moves, products);
  bench::report("route, dispatch, combine by products", m, {w}, 0.05, true, g.rank() != 0);
}

/// More experts take as many slots in all: products stay what they are, and so do the all-to-alls.
/// Groups are as long as GShard's, so that each of 64 experts on one rank has 320 rows. Its weights
/// come from memory for them once: beyond 32 experts a rank (256 MiB) that is more than a tenth.
void compare_numbers(const dm::grid<line>& g, index_t length) {
  const auto layer_of = [&](index_t n) {
    auto p = dm::make<any_weights>(g, any_expert{n});
    dm::for_each_tensor(
        [k = std::uint64_t{0}](const auto&, auto& w) mutable {
          dm::fill_normal(w, dm::random_key{++k}, 0.0f, 0.05f);
        },
        p);
    return p;
  };
  x_type x(g, group{4 * g.ranks()}, token{length});
  dm::fill_uniform(x, dm::random_key{9}, -0.5f, 0.5f);  // no expert gets far more than another
  const auto few = layer_of(8);
  for (const index_t n : {16, 32, 64}) {
    const auto many = layer_of(n);
    const auto [m, f] = bench::race(MPI_COMM_WORLD, 4.0, 5)(
        [&] { (void)forward_of_any{}(many, x); }, [&] { (void)forward_of_any{}(few, x); });
    bench::report("forward, " + std::to_string(n) + " experts by 8", m, {f}, 1.10, true,
                  g.rank() != 0);
  }
}

/// Slots that travel while other experts work, beside all of them before any.
void compare_chunks(const dm::grid<line>& g, index_t length) {
  const contest both(g, length);
  const bench::race race(MPI_COMM_WORLD, 6.0, 5);
  const auto [f, tf] =
      race([&] { (void)in_chunks(both.p, both.x); }, [&] { (void)forward(both.p, both.x); });
  bench::report("in two chunks by in one, forward", f, {tf}, 1, false, g.rank() != 0);
  const auto [b, tb] =
      race([&] { (void)both.gradients(in_chunks); }, [&] { (void)both.gradients(forward); });
  bench::report("the same, forward and backward", b, {tb}, 1, false, g.rank() != 0);
}

}  // namespace

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
    int count = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    const dm::grid<line> g(ranks{count});
    if (g.rank() == 0) bench::headline("a layer of experts");
    compare(g, quick ? 64 : 512);
    compare_dispatch(g, quick ? 64 : 512);
    compare_numbers(g, quick ? 64 : 2048);
    compare_chunks(g, quick ? 64 : 512);
  });
}
