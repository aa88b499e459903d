// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Under which layouts is the model trained? A line each, and a name in the set below; train.cpp
// compiles them all.
#pragma once

#include <dimesh/layout/layout_set.hpp>

#include "model.hpp"

struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct lone : dm::axis<1> {};
struct single : dm::mesh<lone> {};
struct line : dm::mesh<rows> {};
struct square : dm::mesh<rows, cols> {};

using one = plan<dm::layout<single>>;
using data = plan<dm::layout<line, dm::split<batch, rows>>>;
using by_model =
    plan<dm::layout<line, dm::split<heads, rows>, dm::split<hidden, rows>, dm::split<vocab, rows>>>;
using hybrid = plan<dm::layout<square, dm::split<batch, rows>, dm::split<heads, cols>,
                               dm::split<hidden, cols>, dm::split<vocab, cols>>>;
using sequence = plan<dm::layout<line, dm::split<heads, rows>, dm::split<hidden, rows>,
                                 dm::split<vocab, rows>, dm::split_if_free<length, rows>>>;
using zero = plan<dm::layout<line, dm::split<batch, rows>>, dm::layout<line, dm::spread<rows>>>;

inline constexpr dm::layout_set<one, data, by_model, hybrid, sequence, zero> layouts{
    "one", "data", "model", "hybrid", "sequence", "zero"};
