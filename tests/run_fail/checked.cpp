// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checked builds: programs that would hang, or go on with wrong numbers, end with a sentence on
// every rank that comes. The lines below a case are regular expressions, all of which its output
// must match.
// checked: yes
// options: -O0
#include "cases.hpp"
#include "dimesh/create.hpp"
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/to_rank.hpp"

namespace {
using namespace dimesh;

struct rows : axis<> {};
struct cols : axis<> {};
struct pod : mesh<rows> {};
struct plane : mesh<rows, cols> {};
struct length : dim<> {};
using addends = tensor<double, layout<pod, partial<rows>>, length>;

const run_fail::table cases{
    // case length_differs: 2 3
    //   rank 0: [^\n]*make different calls
    //   rank 1: [^\n]*make different calls
    //   rank 0 is about to do 'all_reduce' along rows of pod with 4 elements of double
    //   rank 1 is the first that differs: it is about to do [^\n]* with 5 elements
    {"length_differs",
     [] {
       const grid<pod> g;
       (void)complete(addends(g, length{4}));  // all agree
       (void)complete(addends(g, length{g.rank() == 1 ? 5 : 4}));
     }},
    // case type_differs: 2 3
    //   rank 0: [^\n]*make different calls
    //   rank 1: [^\n]*elements of double[^\n]*rank 1 is the first that differs[^\n]*elements of int32
    {"type_differs",
     [] {
       const grid<pod> g;
       if (g.rank() == 1)
         (void)complete(tensor<int, layout<pod, partial<rows>>, length>(g, length{4}));
       else
         (void)complete(addends(g, length{4}));
     }},
    // case call_differs: 2 4
    //   rank 0: [^\n]*make different calls[^\n]*'all_reduce'[^\n]*rank 1 [^\n]*about to do 'gather'
    {"call_differs",
     [] {
       const grid<pod> g;
       const addends x(g, length{4});
       if (g.rank() == 1)
         (void)to_rank(tensor<double, layout<pod, split<length, rows>>, length>(
             g, length{4 * g.ranks()}));
       else
         (void)complete(x);
     }},
    // case one_rank_leaves: 2 3 4
    //   rank 0: all_reduce: waiting in 'all_reduce' along rows of pod
    //   rank 1 has come to the end of the program, after \d+ calls
    {"one_rank_leaves",
     [] {
       const grid<pod> g;
       const addends x(g, length{4});
       if (g.rank() != 1) (void)complete(x);
     }},
    // case only_one_stays: 2 3 4
    //   rank 1: all_reduce: rank 1 waits in 'all_reduce'[^\n]*rank 0 has come to the end
    {"only_one_stays",
     [] {
       const grid<pod> g;
       const addends x(g, length{4});
       if (g.rank() == 1) (void)complete(x);
     }},
    // case steps_differ: 2 4
    //   rank 0: all_reduce: waiting in [^\n]*rank 1 has come to the end of the program
    {"steps_differ",
     [] {
       const grid<pod> g;
       addends x(g, length{4});
       for (int step = 0; step < (g.rank() == 1 ? 3 : 5); ++step) (void)complete(x);
     }},
    // case waits_elsewhere: 4
    //   rank 0: [^\n]*waiting in 'all_reduce' along rows of plane[^\n]*rank 2 waits in 'all_reduce' along cols of plane
    //   rank 2: [^\n]*waiting in 'all_reduce' along cols of plane
    {"waits_elsewhere",
     [] {
       const grid<plane> g(cols{2});
       const tensor<double, layout<plane, partial<rows>>, length> x(g, length{4});
       const tensor<double, layout<plane, partial<cols>>, length> y(g, length{4});
       (void)complete(x);
       (void)complete(y);
       if (g.rank() < 2) {
         (void)complete(x);
       } else {
         if (g.rank() == 2) (void)complete(y);
         if (g.rank() == 3) MPI_Barrier(g.everyone().handle());
       }
     }},
    // case one_rank_computes: 2 3
    //   rank 0: [^\n]*waiting in 'all_reduce'[^\n]* for \d\.\d s: rank 0[^\n]*rank 1 is in no call that ranks make together
    {"one_rank_computes",
     [] {
       const grid<pod> g;
       const addends x(g, length{4});
       if (g.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(8));
       (void)complete(x);
     }},
    // case grid_on_some: 2 3
    //   rank 0: grid: waiting in 'grid'[^\n]*rank 1 has come to the end of the program
    {"grid_on_some",
     [] {
       if (run_fail::rank() != 1) grid<pod> g;
     }},
    // case first_use_of_axes: 4
    //   rank 0: grid: waiting in 'grid' along rows of plane[^\n]*rank 2 has come to the end
    {"first_use_of_axes",
     [] {
       const grid<plane> g(cols{2});
       if (g.rank() < 2) (void)g.along<rows>();
     }},
    // case caught_on_one_rank: 2
    //   rank 0: all_reduce: waiting in [^\n]*rank 1 has come to the end of the program
    {"caught_on_one_rank",
     [] {
       const grid<pod> g;
       try {
         if (g.rank() == 1) throw error("mine");
         (void)complete(addends(g, length{4}));
       } catch (const error&) {
         if (g.rank() == 0) throw;
       }
     }},
};
}  // namespace

int main(int argc, char** argv) { return cases.run(argc, argv); }
