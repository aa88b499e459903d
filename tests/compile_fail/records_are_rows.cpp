// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cannot be the records of a batch, and tensors whose rows records cannot be.
#include <dimesh/dimesh.hpp>
#include <dimesh/io/data/batch.hpp>
#include <dimesh/io/data/transform.hpp>

#include "names.hpp"

namespace in = dm::input;
struct half_record {
  int number;
};
constexpr auto number = [](dm::index_t i) { return static_cast<int>(i); };
constexpr auto no_number = [](dm::index_t i) { return half_record{static_cast<int>(i)}; };
using labels = dm::tensor<float, by_batch, batch>;
using addends_by_batch = dm::layout<pod, dm::split<batch, rows>, dm::partial<cols>>;

// mistake: record_of_no_numbers
// expect: input::batch: a record is a number, a range of numbers in memory, or a tuple of these; make it so by a map before the batch
// levels: 1
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) {
  return in::numbers(9) | in::map(no_number) | in::batch<labels>(g, batch{});
}
#else
auto f(const dm::grid<pod>& g) {
  return in::numbers(9) | in::map(number) | in::batch<labels>(g, batch{});
}
#endif

// mistake: batch_not_first
// expect: input::batch: a record is a row of each tensor: the batch's dim comes first, no dim has a halo, and no axis is partial
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) {
  return in::batch<dm::tensor<float, by_batch, hidden, batch>>(g, batch{});
}
#else
auto f(const dm::grid<pod>& g) {
  return in::batch<dm::tensor<float, by_batch, batch, hidden>>(g, batch{});
}
#endif

// mistake: rows_are_addends
// expect: input::batch: a record is a row of each tensor: the batch's dim comes first, no dim has a halo, and no axis is partial
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) {
  return in::batch<dm::tensor<float, addends_by_batch, batch, hidden>>(g, batch{});
}
#else
auto f(const dm::grid<pod>& g) {
  return in::batch<dm::tensor<float, by_batch, batch, hidden>>(g, batch{});
}
#endif
