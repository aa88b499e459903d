// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Six micro-batches in rounds of four ranks.
// expect: checked_schedule: the schedule is not made for these numbers; give it ranks and micro-batches that divide as it says
// expect: schedule_does_not_fit<4, 6>
#include <dimesh/pipeline/checked_schedule.hpp>
#include <dimesh/pipeline/schedules.hpp>

#ifdef COMPILE_FAIL
constexpr dimesh::interleaved order{.ranks = 4, .micros = 6, .chunks = 2};
#else
constexpr dimesh::interleaved order{.ranks = 4, .micros = 8, .chunks = 2};
#endif
constexpr auto facts = dimesh::checked_schedule<order>();
