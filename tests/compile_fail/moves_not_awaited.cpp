// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor that is on its way, where calls take tensors: each says the same.
#include <dimesh/any_tensor.hpp>
#include <dimesh/dimesh.hpp>
#include <dimesh/interop/dlpack.hpp>
#include <dimesh/interop/host_block.hpp>
#include <dimesh/interop/scalapack.hpp>
#include <dimesh/interop/scalapack_exchange.hpp>
#include <dimesh/io/npy.hpp>
#include <dimesh/op/concat.hpp>
#include <dimesh/op/take.hpp>
#include <dimesh/show/draw.hpp>
#include <dimesh/train/summaries.hpp>

#include "names.hpp"

struct token : dm::dim<> {};
struct both : dm::dim<16> {};
using matrix = dm::tensor<float, hybrid, batch, hidden>;
using left = dm::tensor<float, by_batch, batch, label>;
using right = dm::tensor<float, by_batch, batch, pixel>;
using table = dm::tensor<float, whole, pixel, hidden>;
extern const dm::tensor<int, whole, token> ids;
extern const matrix x;
extern const left l;
extern matrix y;
extern const Kokkos::View<float**> v;
extern dm::summaries written;

// mistake: moves_not_awaited__to_rank
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) { return dm::to_rank(s); }
#else
auto f(dm::started<matrix> s) { return dm::to_rank(dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__value
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<dm::tensor<float, whole>> s) { return dm::value(s); }
#else
auto f(dm::started<dm::tensor<float, whole>> s) { return dm::value(dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__element
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) { return dm::broadcast_element(s, {3, 4}); }
#else
auto f(dm::started<matrix> s) { return dm::broadcast_element(dm::await(std::move(s)), {3, 4}); }
#endif

// mistake: moves_not_awaited__printed
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
void f(dm::started<matrix> s) { dm::print_gathered(s); }
#else
void f(dm::started<matrix> s) { dm::print_gathered(dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__described
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) { return dm::describe(s); }
#else
auto f(dm::started<matrix> s) { return dm::describe(dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__streamed
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
void f(std::ostream& out, dm::started<matrix> s) { out << s; }
#else
void f(std::ostream& out, dm::started<matrix> s) { out << dm::await(std::move(s)); }
#endif

// mistake: moves_not_awaited__drawn
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) { return dm::draw_text(s); }
#else
auto f(dm::started<matrix> s) { return dm::draw_text(dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__saved
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
void f(dm::started<matrix> s) { dm::save_npy(s, "x.npy"); }
#else
void f(dm::started<matrix> s) { dm::save_npy(dm::await(std::move(s)), "x.npy"); }
#endif

// mistake: moves_not_awaited__view
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) { return dm::view_of(s); }
#else
auto f(dm::started<matrix> s) { return dm::view_of(dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__copied
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
void f(dm::started<matrix> s) { dm::copy_to(v, s); }
#else
void f(dm::started<matrix> s) { dm::copy_to(v, dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__host
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
void f(dm::started<matrix> s) { const dm::host_block b(s); }
#else
void f(dm::started<matrix> s) { const dm::host_block b(dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__lent
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) { return dm::to_dlpack(s); }
#else
auto f(dm::started<matrix> s) { return dm::to_dlpack(dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__scalapack
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) { return dm::scalapack_descriptor(s, 0); }
#else
auto f(dm::started<matrix> s) { return dm::scalapack_descriptor(dm::await(std::move(s)), 0); }
#endif

// mistake: moves_not_awaited__scalapack_exchange
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
extern const dm::array_descriptor& d;
extern const dm::process_grid& ranks;
#ifdef COMPILE_FAIL
void f(dm::started<matrix> s) { dm::to_scalapack_exchange(s, nullptr, d, ranks); }
#else
void f(dm::started<matrix> s) {
  dm::to_scalapack_exchange(dm::await(std::move(s)), nullptr, d, ranks);
}
#endif

// mistake: moves_not_awaited__any
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
dm::any_tensor f(dm::started<matrix> s) { return s; }
#else
dm::any_tensor f(dm::started<matrix> s) { return dm::await(std::move(s)); }
#endif

// mistake: moves_not_awaited__histogram
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) { return dm::histogram_of(s); }
#else
auto f(dm::started<matrix> s) { return dm::histogram_of(dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__written
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
void f(dm::started<matrix> s) { written.histogram(0, "w", s); }
#else
void f(dm::started<matrix> s) { written.histogram(0, "w", dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__added
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 23
#ifdef COMPILE_FAIL
void f(dm::started<matrix> s) { y += s; }
#else
void f(dm::started<matrix> s) { y += dm::await(std::move(s)); }
#endif

// mistake: moves_not_awaited__added_to
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
void f(dm::started<matrix> s) { s += x; }
#else
void f(dm::started<matrix> s) {
  matrix t = dm::await(std::move(s));
  t += x;
}
#endif

// mistake: moves_not_awaited__scaled
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
void f(dm::started<matrix> s) { s *= 2; }
#else
void f(dm::started<matrix> s) {
  matrix t = dm::await(std::move(s));
  t *= 2;
}
#endif

// mistake: moves_not_awaited__assigned
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
void f(dm::started<matrix> s) { y = s; }
#else
void f(dm::started<matrix> s) { y = dm::await(std::move(s)); }
#endif

// mistake: moves_not_awaited__concat
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<right> s) { return dm::concat<both, label, pixel>(l, s); }
#else
auto f(dm::started<right> s) { return dm::concat<both, label, pixel>(l, dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__take
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<table> s) { return dm::take<pixel>(s, ids); }
#else
auto f(dm::started<table> s) { return dm::take<pixel>(dm::await(std::move(s)), ids); }
#endif

// mistake: moves_not_awaited__completed
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 35
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) { return dm::complete(std::tuple(x, std::move(s))); }
#else
auto f(dm::started<matrix> s) { return dm::complete(std::tuple(x, dm::await(std::move(s)))); }
#endif

// mistake: moves_not_awaited__relayout
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 21
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) { return dm::relayout<whole>(s); }
#else
auto f(dm::started<matrix> s) { return dm::relayout<whole>(dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__clone
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) { return dm::clone(s); }
#else
auto f(dm::started<matrix> s) { return dm::clone(dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__mapped
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) {
  return dm::map([](auto a) { return a * a; }, s);
}
#else
auto f(dm::started<matrix> s) {
  return dm::map([](auto a) { return a * a; }, dm::await(std::move(s)));
}
#endif

// mistake: moves_not_awaited__filled
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
void f(dm::started<matrix> s) { dm::fill(s, 0); }
#else
void f(dm::started<matrix> s) {
  matrix t = dm::await(std::move(s));
  dm::fill(t, 0);
}
#endif

// mistake: moves_not_awaited__zeros
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) { return dm::zeros_like(s); }
#else
auto f(dm::started<matrix> s) { return dm::zeros_like(dm::await(std::move(s))); }
#endif

// mistake: moves_not_awaited__compared
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) { return s < x; }
#else
auto f(dm::started<matrix> s) { return dm::await(std::move(s)) < x; }
#endif

// mistake: moves_not_awaited__started_again
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#ifdef COMPILE_FAIL
auto f(dm::started<matrix> s) { return dm::start_all_gather<rows>(s); }
#else
auto f(dm::started<matrix> s) { return dm::start_all_gather<rows>(dm::await(std::move(s))); }
#endif
