// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layout with a mistake serves a whole program: one error, however many tensors and structs.
// expect: tensor: two dims are split over the same mesh axis; split one of them over another axis, or not at all
// expect: dims_share_mesh_axis<batch, hidden, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/reflect/describe.hpp>
#include <dimesh/show/draw.hpp>
#include <iostream>

#include "names.hpp"

#ifdef COMPILE_FAIL
using layout = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, rows>>;
#else
using layout = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, cols>>;
#endif
using matrix = dm::tensor<float, layout, batch, hidden>;

template <class L> struct table {
  BOOST_HANA_DEFINE_STRUCT(table, (dm::tensor<float, L, batch, hidden>, w),
                           (dm::tensor<double, L, hidden, batch>, v),
                           (dm::tensor<float, L, hidden>, b));
};

float f(const dm::grid<pod>& g) {
  matrix x(g);
  dm::fill(x, 1.0f);
  const auto y = dm::generate<matrix>(
      g, [](dm::index_t i, dm::index_t j) { return static_cast<float>(i + j); });
  const auto u = dm::uniform<matrix>(g, dm::random_key(1), 0.0f, 1.0f) *
                 dm::normal<matrix>(g, dm::random_key(2), 0, 1);
  const auto z = dm::zeros<matrix>(g) + dm::constant<matrix>(g, 3) - dm::zeros_like(x);
  const matrix none = dm::zeros_like(x), empty = dm::empty_like(x), copy = dm::clone(x);
  auto p = dm::zeros<table<layout>>(g);
  auto gradient = dm::zeros_like(p);
  const auto value = dm::complete(dm::mean(dm::square(p.w + p.b)));
  auto state = dm::adam{}.start(p);
  dm::adam{}(p, gradient, state);
  std::cout << dm::describe<matrix>() << dm::describe(y) << dm::draw_text<matrix>(g)
            << dm::draw_svg(y);
  std::cout << dm::to_rank(dm::relu(x + y * u + none + empty * copy)).size() << x.extent<batch>()
            << x.local_size();
  return dm::value(value) + dm::value(dm::complete(dm::sum(dm::relayout<whole>(z))));
}
