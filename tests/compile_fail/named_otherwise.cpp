// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations by the names that they have in PyTorch, NumPy, Eigen and MPI.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>
#include <dimesh/op/logic.hpp>
#include <dimesh/op/merge.hpp>
#include <dimesh/op/reductions.hpp>
#include <dimesh/optim/clip.hpp>

#include "names.hpp"

struct both : dm::dim<48> {};
struct time_step : dm::dim<> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using weights = dm::tensor<float, by_batch, hidden, label>;
using scores = dm::tensor<float, by_batch, batch, label>;
using classes = dm::tensor<int, by_batch, batch>;
using series = dm::tensor<float, whole, time_step>;
using number = dm::tensor<float, whole>;
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, hidden, label>, w),
                           (dm::tensor<float, L, label>, b));
};

constexpr auto loss = [](const auto& p, const auto& x) {
  return dm::mean(dm::square(dm::einsum<batch, label>(x, p.w) + p.b));
};

// mistake: named_otherwise
// expect: einsum: a product names the dims of its result, and sums over all others: einsum<batch, label>(x, w); of all elements sum(x * y)
// expect: named_otherwise<batch, label>
// levels: 1
#ifdef COMPILE_FAIL
auto f(const matrix& x, const weights& w) { return dm::matmul<batch, label>(x, w); }
#else
auto f(const matrix& x, const weights& w) { return dm::einsum<batch, label>(x, w); }
#endif

// mistake: named_otherwise__dot
// expect: einsum: a product names the dims of its result, and sums over all others: einsum<batch, label>(x, w); of all elements sum(x * y)
// expect: named_otherwise<>
// levels: 1
// also: MEMBER
#ifdef COMPILE_FAIL
#ifdef MEMBER
auto f(const matrix& x) { return x.dot(x); }
#else
auto f(const matrix& x) { return dm::dot(x, x); }
#endif
#else
auto f(const matrix& x) { return dm::sum(x * x); }
#endif

// mistake: named_otherwise__transpose
// expect: permute: dims meet by name, so that products need no transpose; the order in memory is that of permute<hidden, batch>(x)
// expect: named_otherwise<>
// levels: 1
// also: MEMBER
#ifdef COMPILE_FAIL
#ifdef MEMBER
auto f(const matrix& x) { return x.transpose(); }
#else
auto f(const matrix& x) { return dm::transpose(x, 0, 1); }
#endif
#else
auto f(const matrix& x) { return dm::permute<hidden, batch>(x); }
#endif

// mistake: named_otherwise__reshape
// expect: reshape: dims are joined by merge<both, a, b>(x), parted by cut<both, a, b>(x), of <dimesh/op/merge.hpp>; one more is expand<a>(x)
// expect: named_otherwise<>
// levels: 1
// also: MEMBER
#ifdef COMPILE_FAIL
#ifdef MEMBER
auto f(const matrix& x) { return x.reshape(48); }
#else
auto f(const matrix& x) { return dm::reshape(x, {8, 6}); }
#endif
#else
auto f(const matrix& x) { return dm::merge<both, batch, hidden>(x); }
#endif

// mistake: named_otherwise__cat
// expect: cat: it is concat<length>(x, y) of a dim<>, or concat<both, left, right>(x, y), of <dimesh/op/concat.hpp>
// expect: named_otherwise<time_step>
// levels: 1
// also: LONGER
#ifdef COMPILE_FAIL
#ifdef LONGER
auto f(const series& x) { return dm::concatenate<time_step>(x, x); }
#else
auto f(const series& x) { return dm::cat<time_step>(x, x); }
#endif
#else
auto f(const series& x) { return dm::concat<time_step>(x, x); }
#endif

// mistake: named_otherwise__roll
// expect: roll: it is shift<time>(x, 1, boundary::periodic); nothing comes in at the ends without that
// expect: named_otherwise<batch>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::roll<batch>(x, 1); }
#else
auto f(const matrix& x) { return dm::shift<batch>(x, 1, dm::boundary::periodic); }
#endif

// mistake: named_otherwise__norm
// expect: norm: it is l2_norm<hidden>(x), of all elements l2_norm(x), of <dimesh/op/reductions.hpp>; as a number global_norm(x), of <dimesh/optim/clip.hpp>
// expect: named_otherwise<>
// levels: 1
// also: MEMBER
#ifdef COMPILE_FAIL
#ifdef MEMBER
double f(const matrix& x) { return x.norm(); }
#else
double f(const matrix& x) { return dm::value(dm::norm(x)); }
#endif
#else
double f(const matrix& x) {
  return dm::global_norm(x) + dm::value(dm::l2_norm(x)) +
         dm::value(dm::l2_norm(dm::l2_norm<hidden>(x)));
}
#endif

// mistake: named_otherwise__where
// expect: where: it is select(x > 0, x, 0); of what holds for no element nothing is taken out
// expect: named_otherwise<>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::where(x > 0, x, 0); }
#else
auto f(const matrix& x) { return dm::select(x > 0, x, 0); }
#endif

// mistake: named_otherwise__clip
// expect: clip: it is clamp(x, 0, 1), of <dimesh/op/logic.hpp>; of gradients, clip_by_global_norm(gradients, 1)
// expect: named_otherwise<>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::clip(x, 0, 1); }
#else
auto f(const matrix& x) { return dm::clamp(x, 0, 1); }
#endif

// mistake: named_otherwise__cross_entropy
// expect: cross_entropy: it is softmax_cross_entropy<label>(logits, ids), a loss for each row; mean of it is that of all
// expect: named_otherwise<>
#ifdef COMPILE_FAIL
auto f(const scores& y, const classes& ids) { return dm::cross_entropy(y, ids); }
#else
auto f(const scores& y, const classes& ids) {
  return dm::mean(dm::softmax_cross_entropy<label>(y, ids));
}
#endif

// mistake: named_otherwise__logsumexp
// expect: logsumexp: it is log_sum_exp<label>(x)
// expect: named_otherwise<label>
#ifdef COMPILE_FAIL
auto f(const scores& y) { return dm::logsumexp<label>(y); }
#else
auto f(const scores& y) { return dm::log_sum_exp<label>(y); }
#endif

// mistake: named_otherwise__mse_loss
// expect: mse_loss: it is mean(square(x - y)), to be completed
// expect: named_otherwise<>
#ifdef COMPILE_FAIL
auto f(const scores& y, const scores& t) { return dm::mse_loss(y, t); }
#else
auto f(const scores& y, const scores& t) { return dm::complete(dm::mean(dm::square(y - t))); }
#endif

// mistake: named_otherwise__eye
// expect: tensor: they are made by zeros<X>(grid), constant<X>(grid, 1), generate<X>(grid, f), uniform<X>(grid, key, 0, 1), normal<X>(grid, key, 0, 1)
// expect: named_otherwise<
// levels: 1
// also: RANDN
// also: LIKE
// also: LENGTHS
#ifdef COMPILE_FAIL
#if defined(RANDN)
auto f(const dm::grid<pod>& g) { return dm::randn<matrix>(g); }
#elif defined(LENGTHS)
auto f() { return dm::zeros({8, 6}); }
#elif defined(LIKE)
auto f(const matrix& x) { return dm::ones_like(x); }
#else
auto f() { return dm::eye(8); }
#endif
#else
auto f(const dm::grid<pod>& g) {
  return dm::generate<matrix>(g, [](dm::index_t i, dm::index_t j) { return i == j ? 1.f : 0.f; });
}
#endif

// mistake: named_otherwise__initialize
// expect: initialize: a program is dimesh::run(argc, argv, [&] { ... }), or has a dimesh::runtime; both start MPI and Kokkos where nobody did, and end them
// expect: named_otherwise<>
// levels: 1
#ifdef COMPILE_FAIL
int f(int argc, char** argv) {
  dm::init(argc, argv);
  return 0;
}
#else
int f(int argc, char** argv) {
  return dm::run(argc, argv, [] {});
}
#endif

// mistake: named_otherwise__allreduce
// expect: all_reduce: collectives are all_reduce<rows>(x), all_gather<rows>(x), all_to_all<batch, hidden, rows>(x), broadcast<rows>(x); complete(x) finds them
// expect: named_otherwise<rows>
// levels: 1
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::allreduce<rows>(dm::sum<batch>(x)); }
#else
auto f(const matrix& x) { return dm::all_reduce<rows>(dm::sum<batch>(x)); }
#endif

// mistake: named_otherwise__print
// expect: print: all ranks write std::cout << x, and rank 0 is heard; where blocks lie says draw_text<X>(sizes), of <dimesh/show/draw.hpp>
// expect: named_otherwise<>
// levels: 1
// also: MEMBER
#ifdef COMPILE_FAIL
#ifdef MEMBER
void f(const matrix& x) { (void)x.print(); }
#else
void f(const matrix& x) { (void)dm::print(x); }
#endif
#else
void f(const matrix& x) { std::cout << x; }
#endif

// mistake: named_otherwise__save
// expect: save: a tensor is kept by save_npy(x, "x.npy"), of <dimesh/io/npy.hpp>; structs by save_checkpoint, of <dimesh/io/checkpoint/save.hpp>
// expect: named_otherwise<>
#ifdef COMPILE_FAIL
void f(const matrix& x) { (void)dm::save(x, "x.npy"); }
#else
void f(const matrix& x) { std::cout << x; }
#endif

// mistake: named_otherwise__member
// expect: tensor: what computes is a function, and no member: sum<batch>(x), mean(x), max<batch>(x), cast<double>(x), clone(x), fill(x, 0)
// expect: named_otherwise<batch>
// levels: 1
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return x.sum<batch>(); }
#else
auto f(const matrix& x) { return dm::sum<batch>(x); }
#endif

// mistake: named_otherwise__item
// expect: tensor: the number of one without dims that is complete is value(x)
// expect: named_otherwise<>
#ifdef COMPILE_FAIL
float f(const number& x) { return x.item(); }
#else
float f(const number& x) { return dm::value(x); }
#endif

// mistake: named_otherwise__backward
// expect: tensor: a function has gradients, and no tensor: auto [loss, gradients] = complete(value_and_grad(f, parameters)(x))
// expect: named_otherwise<>
// lines: 11
#ifdef COMPILE_FAIL
void f(const network<by_batch>& p, const matrix& x) { loss(p, x).backward(); }
#else
auto f(const network<by_batch>& p, const matrix& x) {
  return dm::complete(dm::value_and_grad(loss, p)(x));
}
#endif

// mistake: named_otherwise__size
// expect: tensor: how long dims are says x.extent<batch>(); how many elements this rank has, x.local_size()
// expect: named_otherwise<>
// lines: 11
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return x.size(0); }
#else
auto f(const matrix& x) { return x.extent<batch>() + x.local_size(); }
#endif

// mistake: named_otherwise__step
// expect: optimizers: a step is a call, descend(params, complete(gradients)), with state = roll.start(params) as the third argument of those that keep one
// expect: named_otherwise<>
// levels: 1
// also: ADAM
#ifdef COMPILE_FAIL
#ifdef ADAM
void f(network<whole>& p, const network<whole>& d) { dm::adam{}.step(p, d); }
#else
void f(network<whole>&, const network<whole>&) { dm::sgd{.rate = 0.1}.step(); }
#endif
#else
void f(network<whole>& p, const network<whole>& d) { dm::sgd{.rate = 0.1}(p, d); }
#endif

// mistake: named_otherwise__grad
// expect: grad: it is value_and_grad(f, parameters)(x), which gives the value and the gradients
// expect: named_otherwise<>
#ifdef COMPILE_FAIL
auto f(const network<by_batch>& p, const matrix& x) { return dm::grad(loss, p)(x); }
#else
auto f(const network<by_batch>& p, const matrix& x) { return dm::value_and_grad(loss, p)(x); }
#endif
