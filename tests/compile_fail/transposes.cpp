// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients that are not taken, or not of what is given.
#include <array>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/grad/jvp.hpp>
#include <dimesh/grad/overlap.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/grad/with_transpose.hpp>
#include <dimesh/op/pooling.hpp>
#include <dimesh/optim/shards.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
using recorded = dm::tracked_tensor<row>;
using twice = dm::tracked_tensor<recorded>;
template <class X> const X& given();
inline constexpr auto doubled = [](const auto& x) { return 2 * x; };
inline constexpr auto back = [](const auto& ybar, const auto&, const auto&) { return 2 * ybar; };
inline constexpr auto mean = [](const auto& x) { return dm::mean(x); };
template <class L, class T = float> struct net {
  using weight_type = dm::tensor<T, L, hidden>;
  BOOST_HANA_DEFINE_STRUCT(net, (weight_type, weight));
};

// mistake: transposes__captured
// expect: with_transpose: the function must give one tensor, of its arguments alone: a recorded tensor that it uses is to be passed
#ifdef COMPILE_FAIL
auto f(const recorded& p) {
  return dm::with_transpose([&p](const auto& x) { return p + x; }, back)(p);
}
#else
auto f(const recorded& p) { return dm::with_transpose(doubled, back)(p); }
#endif

// mistake: transposes__too_few
// expect: with_transpose: the transpose must give the cotangents of all operands: a tuple of tensors, or the tensor where there is one
inline constexpr auto summed = [](const auto& x, const auto& y) { return x + y; };
inline constexpr auto one = [](const auto& ybar, const auto&, const auto&, const auto&) {
  return ybar;
};
inline constexpr auto two = [](const auto& ybar, const auto&, const auto&, const auto&) {
  return std::tuple(ybar, ybar);
};
#ifdef COMPILE_FAIL
auto f(const recorded& p) { return dm::with_transpose(summed, one)(p, p); }
#else
auto f(const recorded& p) { return dm::with_transpose(summed, two)(p, p); }
#endif

// mistake: transposes__elements
// expect: with_transpose: a cotangent that the transpose gives has other elements than its operand; cast it
// expect: elements_differ<double, float>
#ifdef COMPILE_FAIL
inline constexpr auto fine = [](const auto& ybar, const auto&, const auto&) {
  return dm::cast<double>(2 * ybar);
};
auto f(const recorded& p) { return dm::with_transpose(doubled, fine)(p); }
#else
auto f(const recorded& p) { return dm::with_transpose(doubled, back)(p); }
#endif

// mistake: transposes__nested
// expect: with_transpose: gradients of gradients do not pass through this function; compose it of others, or use stop_gradient
#ifdef COMPILE_FAIL
auto f(const twice& p) { return dm::with_transpose(doubled, back)(p); }
#else
auto f(const recorded& p) { return dm::with_transpose(doubled, back)(p); }
#endif

// mistake: transposes__recompute
// expect: recompute: gradients of gradients do not pass through a recomputed block; take the inner gradient inside of it, or call the function itself
#ifdef COMPILE_FAIL
auto f(const twice& p) { return dm::recompute(doubled)(p); }
#else
auto f(const recorded& p) { return dm::recompute(doubled)(p); }
#endif

// mistake: transposes__jvp
// expect: jvp: an argument is recorded; gradients of tangents are not supported: take the tangent outside, or of stop_gradient
#ifdef COMPILE_FAIL
auto f(const recorded& p) { return dm::jvp(mean, p, p); }
#else
auto f(const row& p) { return dm::jvp(mean, p, p); }
#endif

// mistake: transposes__together
// expect: value_and_grad_all_reduce: a parameter's elements are no real numbers; use float or double
// expect: element_not_differentiable<int>
#ifdef COMPILE_FAIL
auto f(const net<whole, int>& p) {
  return dm::value_and_grad_all_reduce([](const auto& p) { return dm::mean(p.weight); }, p);
}
#else
auto f(const net<whole>& p) {
  return dm::value_and_grad_all_reduce([](const auto& p) { return dm::mean(p.weight); }, p);
}
#endif

// mistake: transposes__of_partial
// expect: complete: a parameter's layout is partial itself; complete the parameters first
// lines: 11
#ifdef COMPILE_FAIL
using layout = dm::layout<pod, dm::partial<rows>>;
#else
using layout = by_batch;
#endif
auto f(const net<dm::gradient<layout>>& g) { return dm::complete(g); }

// mistake: transposes__count_at
// expect: count_at: this axis is not in the mesh; name one that is
struct depth : dm::axis<2> {};
using shape = dm::tensor<float, dm::shaped<by_batch>, batch>;
#ifdef COMPILE_FAIL
auto f(const shape& x) { return dm::count_at<depth, 0>(doubled, x); }
#else
auto f(const shape& x) { return dm::count_at<rows, 0>(doubled, x); }
#endif

// mistake: transposes__described
// expect: value_and_grad: the parameters have a member that is no tensor, or that is not described; describe all members by BOOST_HANA_DEFINE_STRUCT
template <class L> struct half_described {
  using weight_type = dm::tensor<float, L, hidden>;
#ifdef COMPILE_FAIL
  weight_type bias;
  BOOST_HANA_DEFINE_STRUCT(half_described, (weight_type, weight));
#else
  BOOST_HANA_DEFINE_STRUCT(half_described, (weight_type, weight), (weight_type, bias));
#endif
};
auto f() {
  return dm::value_and_grad([](const auto& p) { return dm::mean(p.weight); },
                            half_described<whole>{});
}

// mistake: transposes__of_complex
// expect: gradient: this operation has none of complex elements; compose it of + - * /, einsum, sums, conj, real, imag and norm2, or use stop_gradient
// lines: 23
template <class T> using series = dm::tracked_tensor<dm::tensor<T, whole, hidden>>;
struct three : dm::dim<3> {};
using by_two = dm::pool_window<hidden, three>;
#ifdef COMPILE_FAIL
auto f(const series<std::complex<float>>& x) { return dm::mean_pool(x, by_two{.size = 2}); }
#else
auto f(const series<float>& x) { return dm::mean_pool(x, by_two{.size = 2}); }
#endif

// mistake: transposes__no_sum
// expect: reduce_scatter_together: ranks cannot add up elements of this type; cast the tensor first
#ifdef COMPILE_FAIL
using element = bool;
#else
using element = float;
#endif
using zero = dm::layout<pod, dm::spread<rows>>;
auto f(const net<dm::gradient<whole>, element>& g) { return dm::reduce_scatter_together<zero>(g); }
