// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Closed pages: what a host may do with tensors goes well, and what it may not ends the program
// after a sentence. The lines below a case are regular expressions, all of which its output must
// match.
// closed: yes
// options: -O0
#include "cases.hpp"
#include "dimesh/create.hpp"
#include "dimesh/interop/host_block.hpp"
#include "dimesh/interop/view.hpp"
#include "dimesh/op/all_gather.hpp"
#include "dimesh/op/all_reduce.hpp"
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/reduce_scatter.hpp"
#include "dimesh/op/reductions.hpp"
#include "dimesh/op/relayout.hpp"
#include "dimesh/op/scan.hpp"
#include "dimesh/op/send.hpp"
#include "dimesh/op/shift.hpp"
#include "dimesh/op/start.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/op/to_space.hpp"
#include "dimesh/op/value.hpp"

namespace {
using namespace dimesh;

struct rows : axis<> {};
struct pod : mesh<rows> {};
struct near : mesh<rows> {
  using space = host_space;
};
struct length : dim<> {};
using vector = tensor<double, layout<pod, split<length, rows>>, length>;

vector counted(const grid<pod>& g) {
  return generate<vector>(g, [](index_t i) { return double(i); }, length{8 * g.ranks()});
}
/// Says so where all that is allowed gave the right numbers.
void say(bool right) {
  if (right) std::fprintf(stderr, "rank %d: all went well\n", run_fail::rank());
}

/// All movers, begun and at once, of 8 elements a rank from 0.
template <class X> bool moves_right(const X& x) {
  using M = typename X::mesh_type;
  const int n = x.grid().ranks(), r = x.grid().rank();
  const double last = 8.0 * n - 1, all = last * (last + 1) / 2;
  bool right = true;
  const auto has = [&](const auto& y, index_t at, double value) {
    if (y.holds(length{at})) right = right && y.at(length{at}) == value;
  };
  const auto whole = all_gather<rows>(x);
  has(whole, 8 * n - 1, last);
  has(await(start_all_gather<rows>(x)), 8 * n - 1, last);
  right = right && value(complete(sum<length>(x))) == all;
  const auto addends = generate<tensor<double, layout<M, partial<rows>>, length>>(
      x.grid(), [](index_t i) { return double(i); }, length{8 * n});
  has(all_reduce<rows>(addends), 3, 3);
  has(await(start_all_reduce<rows>(addends)), 3, 3);
  has(reduce_scatter<length, rows>(addends), 8 * r + 1, 8 * r + 1);
  has(shift<length>(x, 3), 8 * n - 1, last - 3);
  has(relayout<layout<M>>(x), 5, 5);
  has(halo_exchange<1, length>(x), 8 * r, 8.0 * r);
  has(cumsum_exscan<length>(x), 8 * n - 1, all);
  right = right && broadcast_element(x, {8 * n - 1}) == last;
  const std::vector<double> values = to_rank(x, 0);
  has(from_rank<X>(x.grid(), values, 0, length{8 * n}), 8 * r + 2, 8 * r + 2);
  return right;
}

const run_fail::table cases{
    // case host_writes: 1 2
    //   exit: 139
    //   rank 0: all went well
    //   dimesh: the host touched a tensor's elements outside of kernels, copies and MPI
    {"host_writes",
     [] {
       const grid<pod> g;
       vector x = counted(g);
       x.set(2, length{1});
       const double n = 8.0 * g.ranks(), all = n * (n - 1) / 2 + 1;
       double own = 0;
       {
         const host_block b(x);
         for (index_t i = 0; i < b.size(); ++i) own += b[i];
       }
       Kokkos::View<double*, Kokkos::HostSpace> there("there", 8);
       copy_to(there, x + x);
       say(value(complete(sum<length>(x))) == all && own <= all &&
           there(3) == 2 * (8.0 * g.rank() + 3) &&
           to_rank(x, 0).size() == (g.rank() == 0 ? std::size_t(n) : 0));
       MPI_Barrier(MPI_COMM_WORLD);
       x.data()[0] = 1;
     }},
    // case mpi_gets_copies: 1 2
    //   exit: 139
    //   rank 0: all went well
    //   dimesh: the host touched a tensor's elements outside of kernels, copies and MPI
    {"mpi_gets_copies",
     [] {
       setenv("DIMESH_STAGING", "always", 1);
       const grid<pod> g;
       const vector x = counted(g);
       const grid<near> h;
       const auto y = to_space(x, h);
       say(moves_right(x) && moves_right(y) && y.data()[7] == 8.0 * g.rank() + 7);
       MPI_Barrier(MPI_COMM_WORLD);
       double own = 0;  // what no mover has copied MPI does not get
       MPI_Reduce(x.data(), &own, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
     }},
    // case one_rank_takes: 2
    //   rank 1: all went well
    //   exit: 0
    {"one_rank_takes",
     [] {
       const grid<pod> g;
       using first = tensor<double, layout<pod, placed<rows, 0>>, length>;
       const auto x = generate<first>(g, [](index_t i) { return double(i); }, length{8});
       const auto y = send<rows, 1>(x);
       if (g.rank() == 1) say(y.at(length{5}) == 5);
     }},
    // case host_reads: 1
    //   exit: 139
    //   dimesh: the host touched a tensor's elements [^\n]*; use at\(\), host_block, to_rank
    {"host_reads",
     [] {
       const grid<pod> g;
       const vector x = counted(g);
       std::printf("%g\n", view_of(x)(2));
     }},
    // case host_reads_while_nothing_moves: 2
    //   exit: 139
    //   rank 0: all went well
    //   dimesh: the host touched a tensor's elements
    {"host_reads_while_nothing_moves",
     [] {
       const grid<pod> g;
       tensor<double, layout<pod, partial<rows>>, length> x(g, length{4});
       fill(x, 1.0);
       const auto y = await(start_all_reduce<rows>(x));  // open on the way, closed thereafter
       say(y.at(length{2}) == 1.0 || y.at(length{2}) == g.ranks());
       MPI_Barrier(MPI_COMM_WORLD);
       std::printf("%g\n", *y.data());
     }},
};

}  // namespace

int main(int argc, char** argv) { return cases.run(argc, argv); }
