// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which names do the snippets of these pages share? Snippets may declare them anew.
#pragma once

#include <dimesh/dimesh.hpp>

namespace dm = dimesh;

struct batch : dm::dim<8> {};
struct pixel : dm::dim<12> {};
struct hidden : dm::dim<6> {};
struct label : dm::dim<4> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};

using whole = dm::layout<pod>;
using by_batch = dm::layout<pod, dm::split<batch, rows>>;
using hybrid = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, cols>>;
