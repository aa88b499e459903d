// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any build: mistakes that only the run can tell end with a sentence that names the call; none with
// a crash, and none with MPI's words alone. The lines below a case are regular expressions, all of
// which its output must match.
// options: -O0
#include <cstdlib>

#include "cases.hpp"
#include "dimesh/any_tensor.hpp"
#include "dimesh/create.hpp"
#include "dimesh/fill.hpp"
#include "dimesh/grad/complete.hpp"
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/attention.hpp"
#include "dimesh/op/broadcast.hpp"
#include "dimesh/op/dispatch.hpp"
#include "dimesh/op/einsum.hpp"
#include "dimesh/op/extents_all_reduce.hpp"
#include "dimesh/op/rotary.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/op/value.hpp"
#include "dimesh/optim/adafactor.hpp"
#include "dimesh/optim/adam.hpp"
#include "dimesh/optim/sgd.hpp"
#include "dimesh/optim/sharded.hpp"
#include "dimesh/plan/probe.hpp"

namespace {
using namespace dimesh;

struct rows : axis<> {};
struct cols : axis<> {};
struct pod : mesh<rows> {};
struct plane : mesh<rows, cols> {};
struct length : dim<> {};
struct key : dim<> {};
struct head : dim<> {};
using addends = tensor<double, layout<pod, partial<rows>>, length>;
using whole = tensor<double, layout<pod>, length>;
using halves = tensor<double, layout<pod, split<uneven<length>, rows>>, length>;
template <class L> struct pair_of {
  BOOST_HANA_DEFINE_STRUCT(pair_of, (tensor<double, L, length>, a), (tensor<double, L, length>, b));
};
using by_rows = layout<pod, split<uneven<length>, rows>>;
using numbers = tensor<int, by_rows, length>;

whole ones(const grid<pod>& g, index_t n = 4) {
  whole x(g, length{n});
  fill(x, 1);
  return x;
}

const run_fail::table cases{
    // case extents_beyond_count: 1 2
    //   rank 0: tensor: a block of 1099511627776 x 1073741824 elements along 'length', 'key' has
    //   more bytes than can be counted; give smaller extents
    {"extents_beyond_count",
     [] {
       const grid<pod> g;
       (void)zeros<tensor<double, layout<pod>, length, key>>(g, length{index_t{1} << 40},
                                                             key{index_t{1} << 30});
     }},
    // ---- who is called with what ---------------------------------------------------------------
    // case not_an_element_here: 2
    //   rank 1: to_rank: rank 1 of the grid has none of the elements; they are on rank 0
    {"not_an_element_here",
     [] {
       const grid<pod> g;
       const auto all = to_rank(ones(g));
       std::printf("%g\n", all[3]);
     }},
    // case not_an_element_of_turned_ranks: 2
    //   rank 0: to_rank: rank 1 of the grid has none of the elements; they are on rank 0
    {"not_an_element_of_turned_ranks",
     [] {
       int rank = 0;
       MPI_Comm_rank(MPI_COMM_WORLD, &rank);
       MPI_Comm turned = MPI_COMM_NULL;
       MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
       const grid<pod> g(turned);
       const auto all = to_rank(ones(g));
       std::printf("%g\n", all[3]);
     }},
    // case not_an_element: 1
    //   rank 0: to_rank: element 4 is none of the 4
    {"not_an_element",
     [] {
       const grid<pod> g;
       (void)to_rank(ones(g))[4];
     }},
    // case staging_of_another_word: 2
    //   runtime: DIMESH_STAGING is 'sometimes'
    {"staging_of_another_word",
     [] {
       setenv("DIMESH_STAGING", "sometimes", 1);
       const grid<pod> g;
       (void)complete(tensor<double, layout<pod, partial<rows>>, length>(g, length{4}));
     }},
    // case never_made: 1 2
    //   rank 0: operator\+: an operand is not defined: it was moved from, or never made
    {"never_made",
     [] {
       const grid<pod> g;
       (void)(whole() + ones(g));
     }},
    // case moved_from: 1
    //   rank 0: \S+: an operand is not defined: it was moved from, or never made
    {"moved_from",
     [] {
       const grid<pod> g;
       whole x = ones(g);
       const whole y = std::move(x);
       (void)(x + y);
     }},
    // case grid_gone: 1 2
    //   rank 0: \S+: an operand's grid is gone; a grid must outlive
    {"grid_gone",
     [] {
       std::unique_ptr<grid<pod>> g(new grid<pod>);
       const addends x(*g, length{4});
       g.reset();
       (void)complete(x);
     }},
    // case two_grids_in_a_sum: 1 2
    //   rank 0: operator\+: the operands live on two grids; make them on one, or bring them there
    //   with relayout
    {"two_grids_in_a_sum",
     [] {
       const grid<pod> g, h;
       (void)(ones(g) + ones(h));
     }},
    // case two_grids_in_einsum: 1 2
    //   rank 0: einsum: the operands live on two grids
    {"two_grids_in_einsum",
     [] {
       const grid<pod> g, h;
       (void)einsum<>(ones(g), ones(h));
     }},
    // case two_grids_in_attention: 1
    //   rank 0: attention: the operands live on two grids
    {"two_grids_in_attention",
     [] {
       const grid<pod> g, h;
       const tensor<float, layout<pod>, length, head> q(g, length{2}, head{2});
       const tensor<float, layout<pod>, key, head> k(g, key{2}, head{2}), v(h, key{2}, head{2});
       (void)attention<length, key, head>(q, k, v);
     }},
    // case two_grids_in_a_step: 1 2
    //   rank 0: an optimizer's step: the operands live on two grids
    {"two_grids_in_a_step",
     [] {
       const grid<pod> g, h;
       whole p = ones(g);
       sgd{.rate = 0.1}(p, ones(h));
     }},
    // case two_grids_in_adam: 1
    //   rank 0: an optimizer's step: the operands live on two grids
    {"two_grids_in_adam",
     [] {
       const grid<pod> g, h;
       pair_of<layout<pod>> p{ones(g), ones(g)};
       auto state = adam{}.start(p);
       const pair_of<layout<pod>> d{ones(g), ones(h)};
       adam{}(p, d, state);
     }},
    // case two_grids_in_adafactor: 1
    //   rank 0: adafactor: the operands live on two grids
    {"two_grids_in_adafactor",
     [] {
       const grid<pod> g, h;
       whole p = ones(g);
       auto state = adafactor{}.start(p);
       adafactor{}(p, ones(h), state);
     }},
    // case two_grids_in_sharded: 2
    //   rank 0: an optimizer's step: the operands live on two grids
    {"two_grids_in_sharded",
     [] {
       const grid<pod> g, h;
       whole p = ones(g);
       const auto step = sharded<by_rows>(adam{});
       auto state = step.start(p);
       addends d(h, length{4});
       fill(d, 1);
       step(p, d, state);
     }},
    // case gradient_of_other_extents: 1
    //   rank 0: an optimizer's step: dim 'length' has 4 elements in a parameter and 5 in its
    //   gradient or state
    {"gradient_of_other_extents",
     [] {
       const grid<pod> g;
       whole p = ones(g);
       sgd{.rate = 0.1}(p, ones(g, 5));
     }},
    // case other_type_held: 1
    //   rank 0: any_tensor: it holds [^\n]*, not [^\n]*; ask for its own type, or relayout it
    {"other_type_held",
     [] {
       const grid<pod> g;
       (void)any_tensor(ones(g)).as<addends>();
     }},
    // ---- numbers that do not fit ---------------------------------------------------------------
    // case block_too_small: 2
    //   rank 0: fill_block: the block has 2 elements, the array 4 \(rank 0\)
    {"block_too_small",
     [] {
       const grid<pod> g;
       halves x(g, length{4});
       fill_block(x, std::vector<double>(4));
     }},
    // case array_too_small: 1 2
    //   rank 0: fill_from: the tensor has 4 elements, the array 3
    {"array_too_small",
     [] {
       const grid<pod> g;
       halves x(g, length{4});
       fill_from(x, std::vector<double>(3));
     }},
    // case values_too_few: 1 2
    //   rank 0: from_rank: 3 values on rank 0 for a tensor of 4 elements
    {"values_too_few",
     [] {
       const grid<pod> g;
       (void)from_rank<halves>(g, std::vector<double>(3), length{4});
     }},
    // case no_such_coordinate: 2
    //   rank 0: broadcast: axis 'rows' has coordinates 0\.\.1, not 2
    {"no_such_coordinate",
     [] {
       const grid<pod> g;
       (void)broadcast<rows>(ones(g), 2);
     }},
    // case no_such_element: 1
    //   rank 0: broadcast_element: index 4 of dim 'length' is outside 0..3
    {"no_such_element",
     [] {
       const grid<pod> g;
       (void)broadcast_element(ones(g), {4});
     }},
    // case dropout_of_all: 1
    //   rank 0: attention: the probability of dropout must be at least 0 and below 1
    {"dropout_of_all",
     [] {
       const grid<pod> g;
       const tensor<float, layout<pod>, length, head> q(g, length{2}, head{2});
       const tensor<float, layout<pod>, key, head> k(g, key{2}, head{2});
       (void)attention<length, key, head>(q, k, k, {.dropout = 1});
     }},
    // case window_of_less: 1
    //   rank 0: attention: a window has -1 keys; give 1 or more, or 0 for all
    {"window_of_less",
     [] {
       const grid<pod> g;
       const tensor<float, layout<pod>, length, head> q(g, length{2}, head{2});
       const tensor<float, layout<pod>, key, head> k(g, key{2}, head{2});
       (void)attention<length, key, head>(q, k, k, {.window = -1});
     }},
    // case odd_head: 1
    //   rank 0: rotary: dim 'head' has 3 elements; they go in pairs, so give it an even number
    {"odd_head",
     [] {
       const grid<pod> g;
       (void)rotary<length, head>(tensor<float, layout<pod>, length, head>(g, length{2}, head{3}));
     }},
    // case no_such_axis: 1
    //   rank 0: layout_value: mesh 'pod' has no axis 1; its axes are 0..0
    {"no_such_axis", [] { layout_value<pod>().split(detail::facts_of_dim<length>, {1}); }},
    // case many_grids: 1
    //   rank 0: gradients: the tensors of one struct live on more than 16 grids
    {"many_grids",
     [] {
       std::vector<std::unique_ptr<grid<pod>>> grids;
       std::vector<whole> x;
       for (int i = 0; i < 17; ++i) {
         grids.emplace_back(new grid<pod>);
         x.push_back(ones(*grids.back()));
       }
       (void)global_norm(x);
     }},
    // ---- a rank that says other sizes than the rest ---------------------------------------------
    // case other_number_of_groups: 2 4
    //   rank 0: all_to_all_counts: dim 'key' has 3 elements on rank 0 of the axis and 5 on rank 1;
    //   rank 1: all_to_all_counts: dim 'key' has 3 elements on rank 0 of the axis and 5 on rank 1;
    {"other_number_of_groups",
     [] {
       const grid<pod> g;
       const auto to = zeros<numbers>(g, length{8});
       (void)all_to_all_counts<length, uneven<key>, rows>(to, key{g.rank() == 1 ? 5 : 3});
     }},
    // case other_number_of_rows: 2 4 unchecked
    //   rank 0: all_to_all_counts: dim 'length' has 8 elements on rank 0 of the axis and 9 on rank
    //   1;
    //   rank 1: all_to_all_counts: dim 'length' has 8 elements on rank 0 of the axis and 9 on rank
    //   1;
    {"other_number_of_rows",
     [] {
       const grid<pod> g;
       const auto to = zeros<numbers>(g, length{g.rank() == 1 ? 9 : 8});
       (void)all_to_all_counts<length, uneven<key>, rows>(to, key{3});
     }},
    // case other_extents: 2 4 unchecked
    //   rank 0: extents_all_reduce: dim 'length' has 4 elements on one rank and 6 on another; all
    //   rank 1: extents_all_reduce: dim 'length' has 4 elements on one rank and 6 on another; all
    {"other_extents",
     [] {
       const grid<pod> g;
       (void)extents_all_reduce(ones(g, g.rank() == 1 ? 6 : 4));
     }},
    // ---- before, without and after MPI ---------------------------------------------------------
    // case sizes_missing: 1 2
    //   rank 0: grid: axes 'rows' and 'cols' of mesh 'plane' both lack a size; give all but one
    {"sizes_missing", [] { const grid<plane> g; }},
    // case ranks_do_not_fit: 2 3
    //   rank 0: grid: mesh 'plane' \(rows=5 x cols=\?\) does not fit [23] ranks
    //   rank 1: grid: mesh 'plane'
    {"ranks_do_not_fit", [] { const grid<plane> g(rows{5}); }},
    // case no_communicator: 1 2
    //   rank 0: grid: the communicator is MPI_COMM_NULL; a grid is made by the ranks of its
    //   communicator only
    {"no_communicator", [] { const grid<pod> g(MPI_COMM_NULL); }},
    // case freed_communicator: 1 2 mpich
    //   rank 0: grid: this is no communicator: it was freed, or never made; make grids while
    //   theirs lives
    {"freed_communicator",
     [] {
       MPI_Comm mine = MPI_COMM_NULL;
       MPI_Comm_dup(MPI_COMM_WORLD, &mine);
       const MPI_Comm same = mine;
       MPI_Comm_free(&mine);
       const grid<pod> g(same);
     }},
    // case before_mpi: 1
    //   grid: MPI has not begun; make a dimesh::runtime first
    {"before_mpi", [] { const grid<pod> g; }, true},
    // case after_mpi: 1
    //   grid: MPI has ended; grids live within the runtime, in main
    {"after_mpi",
     [] {
       int argc = 0;
       char** argv = nullptr;
       { const runtime r(argc, argv); }
       const grid<pod> g;
     },
     true},
    // case without_kokkos: 1
    //   tensor: there is no memory: Kokkos has not begun, or has ended; make a dimesh::runtime
    //   first
    {"without_kokkos",
     [] {
       MPI_Init(nullptr, nullptr);
       const grid<pod> g;
       const whole x(g, length{4});
     },
     true},
    // case throws_on_one_rank: 2 4
    //   dimesh: rank 1: tensor: dim 'length' has -1000 elements
    {"throws_on_one_rank",
     [] {
       const grid<pod> g;
       const whole x(g, length{g.rank() == 1 ? -1000 : 5});
       MPI_Barrier(g.along<rows>());
     }},
    // ---- the watchdog --------------------------------------------------------------------------
    // case watchdog_collective: 2 3 unchecked
    //   dimesh: watchdog: rank 0 waits in 'all_reduce' with 32 bytes \(its call \d+\) for 1 s
    //   dimesh: watchdog: rank 1 came to the end of the program 1 s ago, after \d+ calls
    {"watchdog_collective",
     [] {
       run_fail::watched([] {
         const grid<pod> g;
         const addends x(g, length{4});
         (void)complete(x);
         if (g.rank() != 1) (void)complete(x);
       });
     },
     true},
    // case watchdog_computes: 2
    //   dimesh: watchdog: rank 0 waits in 'all_reduce'
    //   dimesh: watchdog: rank 1 has been in no call that ranks make together for 1 s; its last
    //   was 'grid'
    {"watchdog_computes",
     [] {
       run_fail::watched([] {
         const grid<pod> g;
         const addends x(g, length{4});
         if (g.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(6));
         (void)complete(x);
       });
     },
     true},
};
}  // namespace

int main(int argc, char** argv) { return cases.run(argc, argv); }
