// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is trained, and under which layouts? An encoder and a decoder; a layout is a line here, and
// a translation unit of its own that compiles it.
#pragma once

#include <dimesh/dimesh.hpp>
#include <dimesh/layout/layout_set.hpp>
#include <dimesh/nn/padding.hpp>

#include "settings.hpp"

namespace dm = dimesh;
namespace nn = dimesh::nn;

struct batch : dm::dim<64> {};
struct source : dm::dim<24> {};  // symbols of an English sentence
struct length : dm::dim<24> {};  // and of its translation
struct model : dm::dim<96> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<24> {};
struct hidden : dm::dim<256> {};
struct vocab : dm::dim<1024> {};  // one for both languages

struct form : nn::transformer {
  using batch = ::batch;
  using source = ::source;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 2;
};

struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct line : dm::mesh<rows> {};
struct square : dm::mesh<rows, cols> {};

using by_data = dm::layout<line, dm::split<batch, rows>>;
using by_model =
    dm::layout<line, dm::split<heads, rows>, dm::split<hidden, rows>, dm::split<vocab, rows>>;
using by_both = dm::layout<square, dm::split<batch, rows>, dm::split<heads, cols>,
                           dm::split<hidden, cols>, dm::split<vocab, cols>>;

inline constexpr dm::layout_set<by_data, by_model, by_both> layouts{"data", "model", "square"};

/// Trains under layout C: train.hpp, compiled in a file for each.
template <class C>
outcome train_under(const std::string& name, const corpus& c, const settings& s, bool is_first);
