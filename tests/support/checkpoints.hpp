// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests of checkpoints share: a folder that all ranks see, structs to save, layouts to load.
#pragma once

#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "dimesh/io/checkpoint/files.hpp"
#include "dimesh/io/checkpoint/load.hpp"
#include "dimesh/op/start_to_rank.hpp"
#include "support/laws.hpp"

namespace test_support {
namespace fs = std::filesystem;
namespace cp = dimesh::detail::checkpoint;
using dimesh::layout, dimesh::split, dimesh::uneven, dimesh::tensor, dimesh::part;

/// A folder that all ranks see, which vanishes with its test.
struct scratch {
  std::string path;
  explicit scratch(const std::string& name) {
    int mine = static_cast<int>(getpid());
    MPI_Bcast(&mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
    path = (fs::temp_directory_path() / ("dimesh_cp_" + name + std::to_string(mine))).string();
    if (first()) fs::remove_all(path);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~scratch() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::error_code ignored;
    if (first()) fs::remove_all(path, ignored);
  }
  static bool first() { return dimesh::detail::world_rank() == 0; }
};

template <class L> struct state {
  BOOST_HANA_DEFINE_STRUCT(state, (tensor<double, L, p, q>, w), (tensor<float, L, q>, b));
};
template <class S> S filled(const dimesh::grid<plane>& g, double by) {
  S s;
  s.w = dimesh::generate<decltype(s.w)>(
      g, [by](dimesh::index_t i, dimesh::index_t j) { return by * double(100 * i + j); }, p{5},
      q{7});
  s.b = dimesh::generate<decltype(s.b)>(
      g, [by](dimesh::index_t j) { return float(by * double(j) + 0.5); }, q{7});
  return s;
}
template <class S> void check_same(const S& a, const S& b) {
  CHECK(dimesh::to_rank(a.w, 0) == dimesh::to_rank(b.w, 0));
  CHECK(dimesh::to_rank(a.b, 0) == dimesh::to_rank(b.b, 0));
}

using whole = layout<plane>;
using rows = layout<plane, split<uneven<p>, x>>;
using columns = layout<plane, split<uneven<q>, x>>;
using both = layout<plane, split<uneven<p>, y>, split<uneven<q>, x>>;
using twice = layout<plane, split<uneven<q>, y, x>>;

template <class F> void each_layout(const F& f) {
  f(state<whole>{}), f(state<rows>{}), f(state<columns>{}), f(state<both>{}), f(state<twice>{});
}
std::string said(const auto& f) {
  try {
    f();
    return "";
  } catch (const dimesh::error& e) {
    return e.what();
  }
}
inline bool has(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

template <class F> void on_first(const F& f) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (scratch::first()) f();
  MPI_Barrier(MPI_COMM_WORLD);
}
template <class F> void with_grid(const F& f) {
  const dimesh::grid<plane> g(MPI_COMM_WORLD, x{dimesh::dynamic}, y{1});
  f(g);
}

}  // namespace test_support
