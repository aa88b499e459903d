// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does it pay to sum gradients while the backward pass still runs? Data-parallel training of a deep
// perceptron: sums started in buckets of several sizes beside sums after the backward pass.
// ranks: 2 4
//
//   mpirun -n 2 benchmarks/overlap [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/overlap.hpp>

#include <cstring>

#include "support/race.hpp"

namespace {

namespace dm = dimesh;

struct batch : dm::dim<128> {};
struct width : dm::dim<512> {};
struct hidden : dm::dim<512> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<rows> {};
using data = dm::layout<pod, dm::split<batch, rows>>;

template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (dm::tensor<float, L, width, hidden>, in),
                           (dm::tensor<float, L, hidden>, bias),
                           (dm::tensor<float, L, hidden, width>, out));
};
template <class L> using network = std::array<layer<L>, 8>;  // 17 MB of parameters

constexpr auto activate = [](auto z, auto b) { return dm::relu(z + b); };

struct squares {
  template <class Layer, class X> static constexpr auto block(const Layer& l, const X& x) {
    auto h = dm::map(activate, dm::einsum<batch, hidden>(x, l.in), l.bias);
    return dm::einsum<batch, width>(h, l.out);
  }
  template <class P, class X> constexpr auto operator()(const P& p, const X& in) const {
    auto x = block(p[0], in);
    for (std::size_t i = 1; i < p.size(); ++i) x = x + block(p[i], x);
    return dm::mean<batch>(dm::einsum<batch>(x, x));
  }
};

double budget = 8;

void compare() {
  const dm::grid<pod> g;
  auto p = dm::make<network<data>>(g);
  std::uint64_t seed = 1;
  dm::for_each_tensor(
      [&](const auto&, auto& x) { dm::fill_uniform(x, dm::random_key{seed++}, -0.05f, 0.05f); }, p);
  const auto x =
      dm::uniform<dm::tensor<float, data, batch, width>>(g, dm::random_key{99}, -1.0f, 1.0f);
  const auto after = [&] { (void)dm::complete(dm::value_and_grad(squares{}, p)(x)); };
  const auto with = [&](dm::index_t bucket) {
    return [&p, &x, bucket] {
      (void)dm::value_and_grad_all_reduce(squares{}, p, {.bucket = bucket})(x);
    };
  };
  const auto local = [&] { (void)dm::value_and_grad(squares{}, p)(x); };
  const auto kb = [&](dm::index_t n) { return with(n << 10); };
  auto [none, silent, small, middle, large, whole] =
      bench::race(MPI_COMM_WORLD, budget)(after, local, kb(256), kb(1024), kb(4096), kb(65536));
  const bool quiet = g.rank() != 0;
  bench::report("no sums at all", silent, {none}, 1.0, true, quiet);
  bench::report("buckets of 256 KiB", small, {none}, 1.0, true, quiet);
  bench::report("buckets of 1 MiB", middle, {none}, 1.0, true, quiet);
  bench::report("buckets of 4 MiB", large, {none}, 1.0, true, quiet);
  bench::report("one bucket", whole, {none}, 1.0, true, quiet);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) budget = 1;
  return dm::run(argc, argv, [&] {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) std::printf("%d ranks\n", ranks);
    if (rank == 0) bench::headline("8 blocks of 512 x 512, batch 128; twin: sums at the end");
    compare();
  });
}
