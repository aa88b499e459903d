// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One mistake at the beginning of a program: whatever is done with its result adds no error.
// levels: 1
// expect: sum: the tensor lacks this dim; name its own dims
// expect: dim_not_in_tensor<pixel>
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/sgd.hpp>
#include <iostream>

#include "names.hpp"

using matrix = dm::tensor<float, hybrid, batch, hidden>;
template <class X> auto start(const X& x) {
#ifdef COMPILE_FAIL
  return dm::sum<pixel>(x);
#else
  return x;
#endif
}

struct hidden_out : dm::dim<6> {};
struct mean_of_two {
  template <class U> auto operator()(const U& u) const {
    return (dm::at<batch>(u, -1) + dm::at<batch>(u, 1)) / 2;
  }
};
constexpr auto difference = [](auto a, auto b) { return a - b; };

float f(const matrix& x, const dm::tensor<float, hybrid, hidden, label>& w,
        dm::tensor<float, hybrid, batch, hidden>& p) {
  const auto y = start(x);
  const auto z = dm::select(y > x, y * 2 - x / y, dm::maximum(-y, 1 + y)) + dm::pow(y, x);
  const auto m = dm::map(difference, z, y);
  const auto c = dm::complete(dm::einsum<batch, label>(m, w));
  const auto r = dm::relayout<by_batch>(dm::whole<hidden>(m));
  const auto s =
      dm::softmax<hidden>(r) + dm::log_softmax<hidden>(r) * dm::exp(r) - dm::max<hidden>(r);
  const auto places = dm::argmax<hidden>(r);
  const auto hot = dm::one_hot<label>(places) - dm::cast<float>(dm::permute<label, batch>(c));
  const auto moved = dm::rename<hidden, hidden_out>(dm::all_to_all<batch, hidden, rows>(r));
  const auto near = dm::stencil(mean_of_two{}, dm::halo_exchange<1, batch>(dm::shift<batch>(r, 1)));
  const auto cut = dm::own<hidden, cols>(dm::broadcast<cols>(dm::stop_gradient(near)));
  const auto whole_cut = dm::all_gather<cols>(cut);
  const auto both = dm::reduce_scatter<label, cols>(dm::einsum<batch, label>(m, w));
  const auto total = dm::complete(dm::mean(dm::square(s))) + dm::complete(dm::sum(both)) * 0.5f +
                     dm::complete(dm::mean(moved)) + dm::complete(dm::mean(whole_cut));
  p = z - x;
  auto loss = [&](const auto& q) { return dm::mean(q * start(q)); };
  auto [value, gradient] = dm::complete(dm::value_and_grad(loss, x)());
  dm::sgd{.rate = 0.1}(p, gradient);
  auto state = dm::adam{}.start(p);
  dm::adam{}(p, gradient, state);
  std::cout << y.template extent<batch>() << y.local_size() << dm::value(dm::complete(total));
  const auto values = dm::to_rank(hot);
  const float number = dm::value(dm::complete(dm::sum(y)));
  if (number > 0) return dm::value(value);
  return values.size() > 0 ? number : 0;
}
