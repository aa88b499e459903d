// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do users who compile with many warnings, and with -Werror, see none of ours where elements are
// cut, joined, numbered, ordered, run over and seen through windows, of float, of short and of
// whole numbers, with gradients? It is read by the compilers, and never run. (program.cpp has
// networks.)
#include <dimesh/create.hpp>
#include <dimesh/dimesh.hpp>
#include <dimesh/element/bfloat16.hpp>
#include <dimesh/element/half.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/io/npy.hpp>
#include <dimesh/op/argmax_all_gather.hpp>
#include <dimesh/op/batch_norm.hpp>
#include <dimesh/op/categorical.hpp>
#include <dimesh/op/concat_exchange.hpp>
#include <dimesh/op/contract.hpp>
#include <dimesh/op/convolution_exchange.hpp>
#include <dimesh/op/expand.hpp>
#include <dimesh/op/gather.hpp>
#include <dimesh/op/logic.hpp>
#include <dimesh/op/masked_mean.hpp>
#include <dimesh/op/merge_exchange.hpp>
#include <dimesh/op/norm.hpp>
#include <dimesh/op/pooling_exchange.hpp>
#include <dimesh/op/scan.hpp>
#include <dimesh/op/shuffle.hpp>
#include <dimesh/op/slice_exchange.hpp>
#include <dimesh/op/split_into.hpp>
#include <dimesh/op/top_k_all_gather.hpp>
#include <dimesh/plan/probe.hpp>

namespace dm = dimesh;

namespace {

struct batch : dm::dim<> {
  using dm::dim<>::dim;
};
struct pixel : dm::dim<> {
  using dm::dim<>::dim;
};
struct place : dm::dim<> {
  using dm::dim<>::dim;
};
struct tap : dm::dim<3> {};
struct few : dm::dim<2> {};
struct rows : dm::axis<> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
using split =
    dm::layout<pod, dm::split<dm::uneven<batch>, rows>, dm::split<dm::uneven<pixel>, cols>>;
using whole = dm::layout<pod, dm::split<dm::uneven<batch>, rows>>;
template <class T, class L> using images = dm::tensor<T, L, batch, pixel>;

/// The operation, and what its gradient does.
template <class F, class X> void both_ways(const F& f, const X& x) {
  const auto total = [&](const auto& v) { return dm::sum(f(v)); };
  (void)dm::complete(dm::value_and_grad(total, x)());
}

template <class T> void parts(const dm::grid<pod>& g) {
  const images<T, split> x(g, batch{8}, pixel{6});
  const images<T, whole> y(g, batch{8}, pixel{6});
  both_ways([](const auto& v) { return dm::slice_exchange<dm::uneven<pixel>>(v, 4, 0, -2); }, x);
  both_ways([](const auto& v) { return dm::pad_exchange<dm::uneven<pixel>>(v, 1, 2); }, x);
  both_ways([](const auto& v) { return dm::concat_exchange<dm::uneven<pixel>>(v, v); }, x);
  both_ways([](const auto& v) { return dm::shift<pixel>(v, 2); }, x);
  both_ways([](const auto& v) { return dm::concat<pixel>(dm::flip<pixel>(v), v); }, y);
  both_ways([](const auto& v) { return dm::stack<few>(v, dm::pad<pixel>(v, 0, 0)); }, y);
  both_ways([](const auto& v) { return dm::pick<pixel>(v, 3); }, y);
  both_ways([](const auto& v) { return std::get<0>(dm::split_into<pixel>(v, few{}, place{4})); },
            y);
  both_ways([](const auto& v) { return dm::expand<few>(v); }, y);
  both_ways([](const auto& v) { return dm::shuffle<pixel>(dm::random_key{1}, v); }, y);
}

void stencils(const dm::grid<pod>& g) {
  const images<float, split> x(g, batch{8}, pixel{6});
  const auto slope = [](const auto& v) { return dm::at<pixel>(v, 1) - dm::at<pixel>(v, -1); };
  both_ways([&](const auto& v) { return dm::stencil(slope, dm::halo_exchange<1, pixel>(v)); }, x);
}

template <class T> void numbers(const dm::grid<pod>& g) {
  const images<T, split> x(g, batch{8}, pixel{6});
  const images<T, whole> y(g, batch{8}, pixel{6});
  const dm::tensor<std::int32_t, whole, batch, place> at(g, batch{8}, place{3});
  const dm::tensor<std::int64_t, dm::layout<pod>, place> one(g, place{3});
  both_ways([&](const auto& v) { return dm::gather<pixel, place>(v, at); }, x);
  both_ways(
      [&](const auto& v) {
        return dm::scatter_add<place, pixel>(dm::gather<pixel, place>(v, at), at, pixel{6});
      },
      y);
  both_ways([&](const auto& v) { return dm::take<pixel>(v, one); }, y);
  both_ways([](const auto& v) { return dm::sort_all_to_all<pixel>(v); }, x);
  both_ways([](const auto& v) { return dm::nth_largest<pixel>(v, 1); }, y);
  both_ways([](const auto& v) { return dm::cumsum_exscan<pixel>(v, {.exclusive = true}); }, x);
  both_ways([](const auto& v) { return dm::cummax<pixel>(v); }, y);
  (void)dm::top_k_all_gather<pixel, few>(x);
  (void)dm::argsort<pixel>(y, dm::order::descending);
  (void)dm::argmax_all_gather<pixel>(x);
  (void)dm::one_hot<pixel, T>(at, pixel{6});
  (void)dm::bincount<place, pixel>(at, pixel{6});
  (void)dm::any<pixel>(x > x);
  const auto short_ones = dm::cast<std::int8_t>(dm::cast<dm::half>(dm::cast<dm::bfloat16>(x)));
  (void)dm::linear_recurrence_exscan<pixel>(short_ones, short_ones);
}

template <class T> void windows(const dm::grid<pod>& g) {
  const images<T, split> x(g, batch{8}, pixel{6});
  const dm::tensor<T, dm::layout<pod>, tap> filter(g);
  both_ways(
      [&](const auto& v) {
        return dm::convolution_exchange<batch, place>(
            v, filter, dm::window<pixel, tap, place>{.stride = 2, .around = dm::padding::same});
      },
      x);
  both_ways(
      [&](const auto& v) {
        return dm::transposed_convolution_exchange<batch, place>(
            dm::beside_interior, v, filter, dm::window<pixel, tap, place>{.stride = 2});
      },
      x);
  both_ways(
      [](const auto& v) {
        return dm::max_pool_exchange(dm::beside_interior, v, dm::pool_window<pixel, place>{}) +
               dm::mean_pool_exchange(v, dm::pool_window<pixel, place>{});
      },
      x);
  both_ways([](const auto& v) { return dm::linear_recurrence_exscan<pixel>(v, v); }, x);
  both_ways([](const auto& v) { return dm::batch_norm_all_reduce<batch>(0.1, v).y; }, x);
  both_ways([](const auto& v) { return dm::layer_norm<pixel>(0.1, v); }, x);
  both_ways([](const auto& v) { return dm::softmax<pixel>(v); }, x);
  both_ways([](const auto& v) { return dm::contract<dm::by::gather, pixel>(v, v); }, x);
}

void complex_numbers(const dm::grid<pod>& g) {
  const images<Kokkos::complex<double>, split> z(g, batch{8}, pixel{6});
  const auto turned = dm::conj(dm::einsum<batch, pixel>(z, z)) * z + dm::cumsum_exscan<pixel>(z);
  (void)dm::complete(dm::sum(dm::norm2(turned)));
}

void files(const dm::grid<pod>& g) {
  const images<double, split> x(g, batch{8}, pixel{6});
  dm::save_npy(x, "x.npy");
  const auto again = dm::load_npy<images<double, split>>(g, "x.npy");
  (void)dm::value(dm::complete(dm::compensated_sum(again)));
}

double plans() {
  using any = dm::layout<pod, dm::at_run_time>;
  dm::mesh_sizes<pod> sizes;
  sizes.size[0] = 2;
  const auto product = [](const auto& v) { return dm::complete(dm::sum(v * v)); };
  double flops = 0;
  for (const auto& l : dm::all_layouts<pod, few, tap>())
    flops += static_cast<double>(
        dm::count(product, dm::probe_of<dm::tensor<float, any, few, tap>>(l, sizes)).flops());
  return flops;
}

}  // namespace

int main(int argc, char** argv) {
  return dm::run(argc, argv, [] {
    const dm::grid<pod> g(rows{1});
    parts<float>(g), parts<dm::bfloat16>(g);
    numbers<float>(g), numbers<double>(g);
    windows<float>(g), windows<dm::bfloat16>(g);
    stencils(g), complex_numbers(g);
    files(g);
    return plans() > 0 ? 0 : 1;
  });
}
