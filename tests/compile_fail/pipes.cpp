// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Input pipelines whose parts are of the wrong kind, or stand in another order.
#include <dimesh/dimesh.hpp>
#include <dimesh/io/data/order.hpp>
#include <dimesh/io/data/prefetch.hpp>
#include <dimesh/io/data/transform.hpp>

#include "names.hpp"

namespace in = dm::input;
using labels = dm::tensor<float, by_batch, batch>;
inline labels first(auto load) { return load.next(); }

// mistake: pipes__number_of_records
// expect: input::batch: the tensors' type stands in the angle brackets; grid, then the batch's dim with its records: batch<images<L>>(g, batch{64})
// expect: wrong_arguments<dimesh::grid<pod>, int>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) {
  return in::numbers(9) | in::batch<labels>(g, 8) | in::prefetch(2);
}
#else
auto f(const dm::grid<pod>& g) {
  return in::numbers(9) | in::batch<labels>(g, batch{8}) | in::prefetch(2);
}
#endif

// mistake: pipes__batch_of_dim
// expect: input::batch: the tensors' type stands in the angle brackets; grid, then the batch's dim with its records: batch<images<L>>(g, batch{64})
// expect: not_a_tensor<batch>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) {
  return in::numbers(9) | in::batch<batch>(g, batch{8}) | in::prefetch(2);
}
#else
auto f(const dm::grid<pod>& g) {
  return (in::numbers(9) | in::batch<labels>(g, batch{8}) | in::prefetch(2));
}
#endif

// mistake: pipes__batch_without_type
// expect: input::batch: the tensors' type stands in the angle brackets; grid, then the batch's dim with its records: batch<images<L>>(g, batch{64})
// expect: not_a_tensor<dimesh::detail::list<>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return in::numbers(9) | in::batch(g, batch{8}) | in::prefetch(2); }
#else
auto f(const dm::grid<pod>& g) {
  return in::numbers(9) | in::batch<labels>(g, batch{8}) | in::prefetch(2);
}
#endif

// mistake: pipes__grid_that_ends
// expect: input::batch: the grid ends with this line, and the batches are made on it; name it: grid<pod> g; batch<S>(g, batch{64})
// expect: wrong_arguments<dimesh::grid<pod>
#ifdef COMPILE_FAIL
auto f() {
  return first(in::numbers(9) | in::batch<labels>(dm::grid<pod>(), batch{8}) | in::prefetch(2));
}
#else
auto f() {
  const dm::grid<pod> g;
  return first(in::numbers(9) | in::batch<labels>(g, batch{8}) | in::prefetch(2));
}
#endif

// mistake: pipes__prefetch_not_called
// expect: input: a part of a pipeline is called where it stands: files | shuffle(7) | batch<S>(g, batch{64}) | prefetch(2)
// expect: function_not_an_object<
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) {
  return first(in::numbers(9) | in::batch<labels>(g, batch{8}) | in::prefetch);
}
#else
auto f(const dm::grid<pod>& g) {
  return first(in::numbers(9) | in::batch<labels>(g, batch{8}) | in::prefetch(2));
}
#endif

// mistake: pipes__no_batch
// expect: input::prefetch: records become tensors first: files | batch<S>(g, batch{64}) | prefetch(2)
// expect: not_a_tensor<long
// levels: 1
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>&) { return (in::numbers(9) | in::prefetch(2)).next(); }
#else
auto f(const dm::grid<pod>& g) {
  return first(in::numbers(9) | in::batch<labels>(g, batch{8}) | in::prefetch(2));
}
#endif

// mistake: pipes__shuffle_of_batches
// expect: input: records are put in order, mapped and packed before they are batches: files | shuffle(7) | batch<S>(g, batch{64})
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) {
  return first(in::numbers(9) | in::batch<labels>(g, batch{8}) | in::shuffle(7) | in::prefetch(2));
}
#else
auto f(const dm::grid<pod>& g) {
  return first(in::numbers(9) | in::shuffle(7) | in::batch<labels>(g, batch{8}) | in::prefetch(2));
}
#endif

// mistake: pipes__no_loader
// expect: input::batch: batches come out of a loader: auto load = files | batch<S>(g, batch{64}) | prefetch(2); load.next()
// expect: wrong_arguments<>
// levels: 1
#ifdef COMPILE_FAIL
labels f(const dm::grid<pod>& g) {
  auto load = in::numbers(9) | in::batch<labels>(g, batch{8});
  return load.next();
}
#else
labels f(const dm::grid<pod>& g) {
  auto load = in::numbers(9) | in::batch<labels>(g, batch{8}) | in::prefetch(2);
  return load.next();
}
#endif

// mistake: pipes__loop_over_batches
// expect: input::prefetch: a loader has no last batch; count the steps, load.batches_per_epoch() to an epoch, and ask for each: load.next()
// expect: wrong_arguments<>
// levels: 1
#ifdef COMPILE_FAIL
void f(const dm::grid<pod>& g) {
  auto load = in::numbers(9) | in::batch<labels>(g, batch{8}) | in::prefetch(2);
  for (const labels& x : load) (void)x;
}
#else
void f(const dm::grid<pod>& g) {
  auto load = in::numbers(9) | in::batch<labels>(g, batch{8}) | in::prefetch(2);
  for (dm::index_t i = 0; i < load.batches_per_epoch(); ++i) (void)load.next();
}
#endif

// mistake: pipes__const_loader
// expect: input::prefetch: next() moves a loader on, and this one is const; let it be auto load = ...
// expect: wrong_arguments<>
// levels: 1
#ifdef COMPILE_FAIL
labels f(const dm::grid<pod>& g) {
  const auto load = in::numbers(9) | in::batch<labels>(g, batch{8}) | in::prefetch(2);
  return load.next();
}
#else
labels f(const dm::grid<pod>& g) {
  auto load = in::numbers(9) | in::batch<labels>(g, batch{8}) | in::prefetch(2);
  return load.next();
}
#endif

// mistake: pipes__shuffle_without_seed
// expect: input::shuffle: give the seed that each order is drawn by, so that a program that is started again has the same ones: shuffle(7)
// expect: wrong_arguments<>
#ifdef COMPILE_FAIL
auto f() { return in::numbers(9) | in::shuffle(); }
#else
auto f() { return in::numbers(9) | in::shuffle(7); }
#endif

// mistake: pipes__map_of_two
// expect: input::map: the function takes one record, and is const: map([](const auto& record) { ... }); with a seed in front, a random_key, too
// expect: function_not_callable_with<long
// levels: 1
#ifdef COMPILE_FAIL
constexpr auto number = [](dm::index_t i, dm::index_t k) { return i + k; };
#else
constexpr auto number = [](dm::index_t i) { return i; };
#endif
auto f(const dm::grid<pod>& g) {
  return first(in::numbers(9) | in::map(number) | in::batch<labels>(g, batch{8}) | in::prefetch(2));
}

// mistake: pipes__map_without_key
// expect: input::map: behind a seed, the function takes one record and a random_key, and is const: map(7, [](const auto& record, random_key k) { ... })
// expect: function_not_callable_with<long
// levels: 1
#ifdef COMPILE_FAIL
auto f() {
  return in::numbers(9) | in::map(7, [](dm::index_t i) { return i; });
}
#else
auto f() {
  return in::numbers(9) | in::map(7, [](dm::index_t i, dm::random_key) { return i; });
}
#endif

// mistake: pipes__filter_of_two
// expect: input::filter: the function takes one record, is const, and says whether it stays: filter([](const auto& record) { return true; })
// expect: function_not_callable_with<long
// levels: 1
#ifdef COMPILE_FAIL
auto f() {
  return in::numbers(9) | in::filter([](dm::index_t i, bool b) { return b && i > 3; });
}
#else
auto f() {
  return in::numbers(9) | in::filter([](dm::index_t i) { return i > 3; });
}
#endif
