// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 512 rows in seven micro-batches.
// expect: micro_extent: the batch does not make so many equal micro-batches; take another number, or fill the last one up and mask the rows that are none
// expect: micro_batches_do_not_divide<batch, 512, 7>
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/micro_batch.hpp>

namespace dm = dimesh;
struct batch : dm::dim<512> {};
#ifdef COMPILE_FAIL
struct micro : dm::dim<dm::micro_extent<batch, 7>()> {};
#else
struct micro : dm::dim<dm::micro_extent<batch, 8>()> {};
#endif
