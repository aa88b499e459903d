// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loops visit the elements of several tensors in step? One loop for each group of dims that
// every operand either lacks or stores side by side in the same order. Found at compile time, since
// blocks are contiguous; only extents and strides are left to the run.
//
//   nest_plan<list<b, t, f>, list<b, t, f>, list<f>>  -> 2 groups {b t}{f}; steps (strided unit),
//                                                     (zero unit)
#pragma once

#include <array>

#include "dimesh/detail/geometry.hpp"
#include "dimesh/local/nest.hpp"

namespace dimesh::detail {

template <int Operands> struct nest_data {
  int groups = 0;
  int last[max_dims]{};  // the last dim of each group
  local::step step[Operands][max_dims]{};  // of each operand in each group
  int place[Operands][max_dims]{};  // of loop dim d among the operand's dims, or -1
};

/// The stride along a group that ends at dim d of a tensor.
constexpr index_t stride_in(const block_view& x, local::step how, int d) {
  return how == local::step::zero ? 0 : how == local::step::unit ? 1 : x.stride(d);
}

/// Loop: the dims of the iteration space in order; Dims...: those of each operand.
template <class Loop, class... Dims> struct nest_plan {
  static constexpr int operands = sizeof...(Dims);
  using data_type = nest_data<operands>;

  template <class... D, class... E>
  static constexpr void places_of(int (&at)[max_dims], list<D...>, list<E...>) {
    int d = 0;
    ((at[d++] = index_of<D, list<E...>>), ...);
  }
  static constexpr data_type make() {
    data_type p;
    constexpr int sizes[] = {Dims::size...};
    int o = 0;
    (places_of(p.place[o++], Loop{}, Dims{}), ...);
    for (int d = 0; d < Loop::size; ++d) {
      bool merges = d + 1 < Loop::size;
      for (int i = 0; i < operands; ++i)
        merges = merges && ((p.place[i][d] < 0 && p.place[i][d + 1] < 0) ||
                            (p.place[i][d] >= 0 && p.place[i][d + 1] == p.place[i][d] + 1));
      if (merges) continue;
      for (int i = 0; i < operands; ++i)
        p.step[i][p.groups] = p.place[i][d] < 0               ? local::step::zero
                              : p.place[i][d] == sizes[i] - 1 ? local::step::unit
                                                              : local::step::strided;
      p.last[p.groups++] = d;
    }
    return p;
  }
  static constexpr data_type data = make();
  static constexpr int groups = data.groups;

  /// The innermost extent where all of its dims have static blocks, else dynamic.
  template <class S, class... D> static constexpr index_t inner(list<D...>) {
    if (groups == 0) return dynamic;
    const index_t fixed[] = {static_block_length<S, D>()..., 1};
    index_t n = 1;
    for (int d = groups > 1 ? data.last[groups > 1 ? groups - 2 : 0] + 1 : 0; d < Loop::size; ++d) {
      if (fixed[d] == dynamic) return dynamic;
      n *= fixed[d];
    }
    return n;
  }

  /// The loop nest over the blocks of x, which has the dims of Loop (in any order).
  template <class X> static auto nest(const X& x) {
    constexpr index_t fixed = local::inner_extent(inner<typename X::spec_type>(Loop{}));
    local::nest<groups, fixed> n{};
    const auto length = lengths(x, Loop{});
    for (int g = 0, d = 0; g < groups; ++g) {
      n.extent[static_cast<std::size_t>(g)] = 1;
      for (; d <= data.last[g]; ++d)
        n.extent[static_cast<std::size_t>(g)] *= length[static_cast<std::size_t>(d)];
    }
    return n;
  }

  /// Operand O of the nest: its data with the strides of its own dims.
  template <int O, class T, class X> static auto operand(T* data_of_x, const X& x) {
    return operand_at<O, T>(data_of_x, x,
                            std::make_index_sequence<static_cast<std::size_t>(groups)>{});
  }

 private:
  template <class X, class... D>
  static std::array<index_t, sizeof...(D) + 1> lengths(const X& x, list<D...>) {
    return {x.template local<D>()..., 1};
  }
  template <int O, class T, class X, std::size_t... G>
  static auto operand_at(T* data_of_x, const X& x, std::index_sequence<G...>) {
    return local::operand<T, data.step[O][G]...>{
        data_of_x, {stride_in(x.blocks(), data.step[O][G], data.place[O][data.last[G]])...}};
  }
};

}  // namespace dimesh::detail
