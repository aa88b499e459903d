// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much does a rank receive for a product on a plane of ranks, beside what it must? A rank that
// computes its block of the result needs the rows of the first operand and the columns of the
// second that meet in it, and owns a part of them: whoever moves no sums cannot receive less
// (Irony, Toledo, Tiskin 2004; memory suffices). Bar: 1.1 of that.
#include <doctest/doctest.h>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/op/contract.hpp>

namespace {

namespace dm = dimesh;
namespace by = dm::by;
using dm::index_t;

template <index_t N> struct height : dm::dim<N> {};
template <index_t N> struct width : dm::dim<N> {};
template <index_t N> struct depth : dm::dim<N> {};
template <index_t N> struct rows : dm::axis<N> {};
template <index_t N> struct cols : dm::axis<N> {};
template <index_t R, index_t C> struct plane : dm::mesh<rows<R>, cols<C>> {};

/// C[M, N] = A[M, K] B[K, N], all of them in blocks of R x C ranks.
template <index_t R, index_t C, index_t M, index_t N, index_t K> struct product {
  template <class A, class B>
  using on = dm::layout<plane<R, C>, dm::split<A, rows<R>>, dm::split<B, cols<C>>>;
  using a = dm::tensor<double, dm::shaped<on<height<M>, depth<K>>>, height<M>, depth<K>>;
  using b = dm::tensor<double, dm::shaped<on<depth<K>, width<N>>>, depth<K>, width<N>>;

  template <class Schedule> struct by_schedule {
    constexpr auto operator()(const auto& x, const auto& y) const {
      return dm::contract<Schedule, height<M>, width<N>>(x, y);
    }
  };
  template <class Schedule> static constexpr double received() {
    return dm::count(by_schedule<Schedule>{}, a{}, b{}).ring_bytes();
  }
  static constexpr double least() {
    return 8.0 * (static_cast<double>(M / R * K - M / R * (K / C)) +
                  static_cast<double>(K * (N / C) - K / R * (N / C)));
  }
  using goal = on<height<M>, width<N>>;
  static constexpr bool best_is_near =
      received<by::best<goal>>() >= least() && received<by::best<goal>>() <= 1.1 * least();
  // Panels go from their owners to all, who are counted as receiving them, too.
  static constexpr bool summa_is_near =
      received<by::summa<rows<R>, cols<C>, 16>>() ==
      8.0 * (static_cast<double>(M / R * K) + static_cast<double>(K * (N / C)));
};

/// The product of matrices of N x N by P x P x C ranks, of which C hold the same blocks: each of
/// them multiplies its share of the summed dim, and their addends are summed into its part of the
/// result (Solomonik and Demmel 2011). With blocks of n x n a rank needs n x N/C elements of either
/// operand, of which it owns n/C columns or rows, and its part of the sums, (1 - 1/C) n x n: with
/// memory for C copies nobody receives less.
template <index_t P, index_t C, index_t N> struct shared_product {
  struct third : dm::axis<C> {};
  struct ranks : dm::mesh<rows<P>, cols<P>, third> {};
  template <class A, class B>
  using on = dm::layout<ranks, dm::split<A, rows<P>>, dm::split<B, cols<P>>>;
  using a = dm::tensor<double, dm::shaped<on<height<N>, depth<N>>>, height<N>, depth<N>>;
  using b = dm::tensor<double, dm::shaped<on<depth<N>, width<N>>>, depth<N>, width<N>>;
  struct to_the_end {
    constexpr auto operator()(const auto& x, const auto& y) const {
      using by_all = by::summa<rows<P>, cols<P>, 16, third>;
      return dm::reduce_scatter<height<N>, third>(dm::contract<by_all, height<N>, width<N>>(x, y));
    }
  };
  static constexpr double received() { return dm::count(to_the_end{}, a{}, b{}).ring_bytes(); }
  static constexpr double block = static_cast<double>(N / P);
  static constexpr double least() {
    return 8 * (2 * block * static_cast<double>(N - N / P) / C + block * block * (C - 1) / C);
  }
  // Panels go from their owners to all, as of SUMMA: near where the owners are one of many.
  static constexpr bool is_as_foreseen =
      received() == 8 * (2 * block * static_cast<double>(N) / C + block * block * (C - 1) / C);
  static constexpr bool is_near = received() >= least() && received() <= 1.1 * least();
};

static_assert(product<2, 2, 256, 256, 256>::best_is_near);
static_assert(product<2, 4, 256, 256, 256>::best_is_near);
static_assert(product<4, 2, 512, 256, 128>::best_is_near);
static_assert(product<4, 4, 256, 512, 128>::best_is_near);
static_assert(product<2, 4, 256, 256, 256>::summa_is_near);
static_assert(product<4, 4, 256, 512, 128>::summa_is_near);
static_assert(shared_product<2, 2, 256>::is_as_foreseen);
static_assert(shared_product<4, 2, 256>::is_as_foreseen);
static_assert(shared_product<8, 8, 1024>::is_as_foreseen);
static_assert(shared_product<8, 8, 1024>::is_near);
static_assert(shared_product<16, 4, 1024>::is_near);
static_assert(shared_product<8, 4, 1024>::received() <  // as many ranks, and more memory
              product<16, 16, 1024, 1024, 1024>::received<by::summa<rows<16>, cols<16>, 16>>());

// Operands that are yet to be summed: addends stay to the end where the last result is small; a
// small operand is summed first; of two, one is.
struct held_by : dm::axis<2> {};
struct also : dm::axis<2> {};
struct ranks : dm::mesh<held_by, also> {};
struct small : dm::dim<4> {};
struct large : dm::dim<64> {};
struct wide : dm::dim<32> {};
struct last : dm::dim<2> {};
using whole = dm::layout<ranks>;
using sums = dm::layout<ranks, dm::partial<held_by>>;
template <class L, class... D> using shape = dm::tensor<float, dm::shaped<L>, D...>;
template <class L, class... Out> struct chain {
  constexpr auto operator()(const auto&... x) const {
    return dm::contract<by::best<L>, Out...>(x...);
  }
};
template <class F, class... X> constexpr index_t received = dm::count(F{}, X{}...).ring_bytes();
struct deep : dm::dim<1000> {};
using cut_deep = dm::layout<ranks, dm::split<deep, held_by>>;
static_assert(std::is_same_v<decltype(chain<sums, small, wide>{}(
                                 shape<cut_deep, small, deep>{}, shape<cut_deep, deep, last>{},
                                 shape<whole, last, wide>{}))::layout_type,
                             sums>);
// Addends that only a gather gives: panels would leave none, and are not taken.
template <class L, index_t Memory, class... Out> struct bounded {
  constexpr auto operator()(const auto&... x) const {
    return dm::contract<by::best<L, Memory>, Out...>(x...);
  }
};
static_assert(
    std::is_same_v<decltype(bounded<sums, 64 * 32 / 2 * 4, large, small>{}(
                       shape<dm::layout<ranks, dm::split<large, held_by>, dm::split<wide, also>>,
                             large, wide>{},
                       shape<dm::layout<ranks, dm::split<wide, held_by>, dm::split<small, also>>,
                             wide, small>{}))::layout_type,
                   sums>);
using to_last = chain<void, large, last>;
static_assert(received<to_last, shape<sums, large, wide>, shape<whole, wide, small>,
                       shape<whole, small, last>> == 64 * 2 * 4);
static_assert(received<to_last, shape<whole, large, small>, shape<whole, small, wide>,
                       shape<sums, wide, last>> == 4 * 2 * 4);
static_assert(received<chain<sums, large, last>, shape<sums, large, wide>,
                       shape<whole, wide, small>, shape<whole, small, last>> == 0);
static_assert(received<to_last, shape<sums, large, wide>, shape<sums, wide, small>,
                       shape<whole, small, last>> == 32 * 2 * 4 + 64 * 2 * 4);
static_assert(
    received<chain<void, large, wide>, shape<sums, large, small>, shape<whole, small, wide>> ==
    64 * 4 * 4);  // before it grows
static_assert(std::is_same_v<decltype(chain<sums, large, last>{}(
                                 shape<sums, large, wide>{}, shape<whole, wide, small>{},
                                 shape<whole, small, last>{}))::layout_type,
                             sums>);

}  // namespace

TEST_CASE("a product receives what it must") {
  CHECK(product<4, 4, 256, 512, 128>::least() == 8.0 * (64 * 96 + 96 * 128));
}
