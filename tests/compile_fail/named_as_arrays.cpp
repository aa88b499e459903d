// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Members that arrays have in NumPy and PyTorch, dims for what goes over elements, and schedules
// without angle brackets of their own.
#include <dimesh/dimesh.hpp>
#include <dimesh/interop/view.hpp>
#include <dimesh/op/contract.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using weights = dm::tensor<float, whole, hidden, label>;
using number = dm::tensor<float, whole>;
namespace by = dm::by;

// mistake: named_otherwise__turned
// expect: permute: dims meet by name, so that products need no transpose; the order in memory is that of permute<hidden, batch>(x)
// expect: named_otherwise<
// levels: 1
// also: CALLED
// also: PERMUTED
#ifdef COMPILE_FAIL
#if defined CALLED
auto f(const matrix& x) { return x.T(); }
#elif defined PERMUTED
auto f(const matrix& x) { return x.permute(1, 0); }
#else
auto f(const matrix& x) { return x.T; }
#endif
#else
auto f(const matrix& x) { return dm::permute<hidden, batch>(x); }
#endif

// mistake: named_otherwise__lengths
// expect: tensor: how long dims are says x.extent<batch>(); how many elements this rank has, x.local_size()
// expect: named_otherwise<>
// levels: 1
// also: COUNTED
#ifdef COMPILE_FAIL
#ifdef COUNTED
auto f(const matrix& x) { return x.numel(); }
#else
auto f(const matrix& x) { return x.shape(0); }
#endif
#else
auto f(const matrix& x) { return x.extent<batch>() + x.local_size() + x.shape().size(); }
#endif

// mistake: named_otherwise__as_other_lengths
// expect: reshape: dims are joined by merge<both, a, b>(x), parted by cut<both, a, b>(x), of <dimesh/op/merge.hpp>; one more is expand<a>(x)
// expect: named_otherwise<>
// levels: 1
// also: FLAT
#ifdef COMPILE_FAIL
#ifdef FLAT
auto f(const matrix& x) { return x.flatten(); }
#else
auto f(const matrix& x) { return x.view(4, -1); }
#endif
#else
auto f(const matrix& x) { return x.view()(3) + dm::view_of(x)(1, 2); }
#endif

// mistake: named_otherwise__memory
// expect: tensor: to one rank go to_rank(x), to a file of NumPy save_npy(x, "x.npy"), of <dimesh/io/npy.hpp>; to a device and back to_space(x, grid)
// expect: named_otherwise<>
// levels: 1
// also: DEVICE
// also: ARRAY
#ifdef COMPILE_FAIL
#if defined DEVICE
auto f(const matrix& x) { return x.cuda(); }
#elif defined ARRAY
auto f(const matrix& x) { return x.numpy(); }
#else
auto f(const matrix& x) { return x.cpu(); }
#endif
#else
auto f(const matrix& x) { return dm::to_rank(x); }
#endif

// mistake: named_otherwise__gradient_of_tensor
// expect: tensor: a function has gradients, and no tensor: auto [loss, gradients] = complete(value_and_grad(f, parameters)(x))
// expect: named_otherwise<
// levels: 1
#ifdef COMPILE_FAIL
auto f(const weights& w) { return w.grad; }
#else
auto f(const weights& w) {
  return dm::value_and_grad([](const auto& v) { return dm::sum(v * v); }, w)().gradient;
}
#endif

// mistake: named_otherwise__detached
// expect: detach: it is stop_gradient(x)
// expect: named_otherwise<>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return x.detach(); }
#else
auto f(const matrix& x) { return dm::stop_gradient(x); }
#endif

// mistake: named_otherwise__function_as_member
// expect: tensor: what computes is a function, and no member: sum<batch>(x), mean(x), max<batch>(x), cast<double>(x), clone(x), fill(x, 0)
// expect: named_otherwise<hidden>
// levels: 1
// also: GREATEST
#ifdef COMPILE_FAIL
#ifdef GREATEST
auto f(const matrix& x) { return x.argmax<hidden>(); }
#else
auto f(const matrix& x) { return x.softmax<hidden>(); }
#endif
#else
auto f(const matrix& x) { return dm::softmax<hidden>(x); }
#endif

// mistake: wrong_arguments__function_over_dim
// expect: functions of elements: they go over all elements, and no dim is named: relu(x), exp(x); over a dim go sum, softmax, cumsum and the like
// expect: wrong_arguments<hidden>
// levels: 1
// also: EXP
// also: TANH
#ifdef COMPILE_FAIL
#if defined EXP
auto f(const matrix& x) { return dm::exp<hidden>(x); }
#elif defined TANH
auto f(const matrix& x) { return dm::tanh<hidden>(x); }
#else
auto f(const matrix& x) { return dm::relu<hidden>(x); }
#endif
#else
auto f(const matrix& x) { return dm::relu(x) + dm::exp(x) + dm::tanh(x); }
#endif

// mistake: wrong_arguments__bare_schedule
// expect: contract: a schedule has angle brackets of its own, with its axes or with nothing: contract<by::best<>, m, n>(x, y), contract<by::ring<rows>, m, n>(x, y)
// expect: wrong_arguments<batch, label>
// levels: 1
// columns: 200
// also: RING
// also: SUMMA
#ifdef COMPILE_FAIL
#if defined RING
auto f(const matrix& x, const weights& w) { return dm::contract<by::ring, batch, label>(x, w); }
#elif defined SUMMA
auto f(const matrix& x, const weights& w) { return dm::contract<by::summa, batch, label>(x, w); }
#else
auto f(const matrix& x, const weights& w) { return dm::contract<by::best, batch, label>(x, w); }
#endif
#else
auto f(const matrix& x, const weights& w) { return dm::contract<by::best<>, batch, label>(x, w); }
#endif
