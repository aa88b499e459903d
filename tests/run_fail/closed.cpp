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
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/reductions.hpp"
#include "dimesh/op/start.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/op/value.hpp"

namespace {
using namespace dimesh;

struct rows : axis<> {};
struct pod : mesh<rows> {};
struct length : dim<> {};
using vector = tensor<double, layout<pod, split<length, rows>>, length>;

vector counted(const grid<pod>& g) {
  return generate<vector>(g, [](index_t i) { return double(i); }, length{8 * g.ranks()});
}
/// Says so where all that is allowed gave the right numbers.
void say(bool right) {
  if (right) std::fprintf(stderr, "rank %d: all went well\n", run_fail::rank());
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
