// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checked builds: programs that would hang, or go on with wrong numbers, end with a sentence on
// every rank that comes. The lines below a case are regular expressions, all of which its output
// must match.
// checked: yes
// options: -O0
#include <array>

#include "cases.hpp"
#include "dimesh/create.hpp"
#include "dimesh/fill.hpp"
#include "dimesh/grad/value_and_grad.hpp"
#include "dimesh/grad/vjp.hpp"
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/broadcast.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/cross_entropy.hpp"
#include "dimesh/op/cuts.hpp"
#include "dimesh/op/dispatch.hpp"
#include "dimesh/op/gather.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/one_hot.hpp"
#include "dimesh/op/permute_along.hpp"
#include "dimesh/op/relayout.hpp"
#include "dimesh/op/scan.hpp"
#include "dimesh/op/shift.hpp"
#include "dimesh/op/start.hpp"
#include "dimesh/op/take.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/op/value.hpp"
#include "dimesh/optim/adam.hpp"
#include "dimesh/optim/sgd.hpp"
#include "dimesh/optim/sharded.hpp"

namespace {
using namespace dimesh;

struct rows : axis<> {};
struct cols : axis<> {};
struct pod : mesh<rows> {};
struct plane : mesh<rows, cols> {};
struct length : dim<> {};
struct sample : dim<2> {};
struct label : dim<4> {};
namespace other {
struct length : dim<> {};
}  // namespace other
template <class L> struct both {
  BOOST_HANA_DEFINE_STRUCT(both, (tensor<float, L, sample>, a), (tensor<float, L, sample>, b));
};
auto numbers(const grid<pod>& g, const std::vector<int>& n) {
  tensor<int, layout<pod>, sample> x(g);
  fill_from(x, n);
  return x;
}
using addends = tensor<double, layout<pod, partial<rows>>, length>;
/// One element, on this rank alone: no operation does that.
template <class X> void put(X& x, index_t i, value_of<X> v) {
  const dimesh::detail::opened memory;
  x.data()[i] = v;
}

const run_fail::table cases{
    // case length_differs: 2 3
    //   rank 0: [^\n]*make different calls
    //   rank 1: [^\n]*make different calls
    //   rank 0 is about to do 'all_reduce' along rows of pod with 4 elements of double
    //   rank 1 is the first that differs: it is about to do [^\n]* with 5 elements[^\n]*; dim
    //   'length' has 4 and 5 elements; all ranks
    {"length_differs",
     [] {
       const grid<pod> g;
       (void)complete(addends(g, length{4}));  // all agree
       (void)complete(addends(g, length{g.rank() == 1 ? 5 : 4}));
     }},
    // case extent_summed_away: 2 3
    //   rank 0: all_reduce: of what the operands were made of, dim 'length' has 8 and 6 elements on
    //   ranks 0 and 1; all ranks give a dim one extent
    //   rank 1: all_reduce: of what the operands were made of, dim 'length' has 8 and 6 elements on
    {"extent_summed_away",
     [] {
       const grid<pod> g;
       const auto total = [&](index_t n) {
         using lines = tensor<double, layout<pod, partial<rows>>, length>;
         return complete(2.0 * sum<length>(constant<lines>(g, 1.0, length{n})));
       };
       (void)total(4);  // all agree
       (void)total(g.rank() == 1 ? 6 : 8);
     }},
    // case extent_summed_away_in_gradient: 2 3
    //   rank 0: [^\n]*dim 'length' has 8 and 6 elements on ranks 0 and 1; all ranks give a dim
    //   rank 1: [^\n]*dim 'length' has 8 and 6 elements on ranks 0 and 1; all ranks give a dim
    {"extent_summed_away_in_gradient",
     [] {
       const grid<pod> g;
       const auto step = [&](index_t n) {
         using batch = tensor<double, layout<pod, split<uneven<length>, rows>>, length>;
         const auto x = constant<batch>(g, 1.0, length{n});
         const auto w = constant<tensor<double, layout<pod>>>(g, 2.0);
         return complete(value_and_grad([&](const auto& p) { return sum<length>(p * x); }, w)());
       };
       (void)step(9);  // all agree
       (void)step(g.rank() == 1 ? 6 : 8);
     }},
    // case branch_of_one_rank: 2 3
    //   a sum of all: 1
    //   exit: 0
    {"branch_of_one_rank",
     [] {
       const grid<pod> g;
       tensor<double, layout<pod, partial<rows>>> x(g);
       clear(x);
       // Addends may be made in as many steps as a rank likes.
       if (g.rank() == 0)
         x = x + sum<length>(constant<addends>(g, 0.25, length{4})) +
             0.0 * sum<length>(constant<addends>(g, 1.0, length{3}));
       else
         x = x + sum<length>(constant<addends>(g, 0.0, length{3}));
       const double all = value(complete(x));
       if (g.rank() == 0) std::fprintf(stderr, "a sum of all: %g\n", all);
     }},
    // case type_differs: 2 3
    //   rank 0: [^\n]*make different calls
    //   rank 1: [^\n]*elements of double[^\n]*rank 1 is the first that differs[^\n]*elements of
    //   int32
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
         (void)to_rank(
             tensor<double, layout<pod, split<length, rows>>, length>(g, length{4 * g.ranks()}));
       else
         (void)complete(x);
     }},
    // case messages_before: 3
    //   rank 0: shift: [^\n]*make different calls[^\n]*rank 2 is the first that differs[^\n]*; one
    //   of them has sent more messages before
    //   rank 2: shift: [^\n]*make different calls
    {"messages_before",
     [] {
       const grid<pod> g;
       const tensor<double, layout<pod, split<length, rows>>, length> x(g, length{2 * g.ranks()});
       (void)shift<length>(x, 1);  // all agree
       if (g.rank() != 2) (void)g.state().along(1u).next_tag();  // of a message between 0 and 1
       (void)shift<length>(x, 1);
     }},
    // case ends_differ: 2 4
    //   rank 0: exscan: the ranks of this communicator make different calls[^\n]*'exscan' along
    //   rows of pod[^\n]*rank 1 is the first that differs: it is about to do 'grid' along rows
    //   rank 1: grid: |rank 1: exscan: the ranks of this communicator make different calls
    {"ends_differ",
     [] {
       const grid<pod> g;
       const tensor<double, layout<pod, split<length, rows>>, length> x(g, length{4 * g.ranks()});
       (void)cumsum_exscan<length>(x);
       (void)cumsum_exscan<length>(x, {.reverse = g.rank() == 1});
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
    // case one_rank_leaves_a_shift: 2 4
    //   rank 0: shift: waiting in 'shift' along rows of pod with elements of double
    //   rank 1 has come to the end of the program
    {"one_rank_leaves_a_shift",
     [] {
       const grid<pod> g;
       const tensor<double, layout<pod, split<length, rows>>, length> x(g, length{4 * g.ranks()});
       if (g.rank() != 1) (void)shift<length>(x, 1);
     }},
    // case one_rank_leaves_halos: 2 4
    //   rank 0: halo_exchange: waiting in 'halo_exchange' along rows of pod
    //   rank 1 has come to the end of the program
    {"one_rank_leaves_halos",
     [] {
       const grid<pod> g;
       const tensor<double, layout<pod, split<length, rows>>, length> x(g, length{4 * g.ranks()});
       if (g.rank() != 1) (void)halo_exchange<1, length>(x);
     }},
    // case one_rank_leaves_a_relayout: 2 4
    //   rank 0: all_gather: waiting in 'all_gather' along rows of pod with \d+ elements of double
    //   rank 1 has come to the end of the program
    {"one_rank_leaves_a_relayout",
     [] {
       const grid<pod> g;
       const tensor<double, layout<pod, split<length, rows>>, length> x(g, length{4 * g.ranks()});
       if (g.rank() != 1) (void)relayout<layout<pod>>(x);
     }},
    // case other_plan: 2 4
    //   rank 0: all_to_all: the ranks of this communicator make different calls
    //   rank 1: all_to_all: the ranks of this communicator make different calls
    {"other_plan",
     [] {
       const grid<pod> g;
       using ids = tensor<int, layout<pod, split<length, rows>>, length>;
       const auto n = 2 * static_cast<index_t>(g.ranks());
       const auto x = zeros<tensor<float, layout<pod, split<length, rows>>, length>>(g, length{n});
       const auto counted = [&](index_t by) {  // as many rows for each rank, but of others
         return all_to_all_counts<length, other::length, rows>(
             generate<ids>(
                 g, [=](index_t i) { return static_cast<int>((i * by + by) % n); }, length{n}),
             other::length{n});
       };
       const auto one = counted(1), two = counted(n - 1);
       (void)all_to_all(g.rank() == 1 ? two : one, x);
     }},
    // case all_catch_and_go_on: 2 3
    //   went on with 2 ranks|went on with 3 ranks
    //   exit: 0
    {"all_catch_and_go_on",
     [] {
       const grid<pod> g;
       for (int i = 0; i < 3; ++i) try {
           (void)complete(addends(g, length{4 + g.rank()}));
           return;
         } catch (const error&) {}
       addends x(g, length{4});
       fill(x, 1);
       if (broadcast_element(x, {3}) == 1 && g.rank() == 0)
         std::printf("went on with %d ranks\n", g.ranks());
     }},
    // case leaves_by_an_exception: 2
    //   rank 0: all_reduce: waiting in [^\n]*rank 1 has come to the end of the program by an
    //   by an exception, after \d+ calls
    {"leaves_by_an_exception",
     [] {
       int argc = 0;
       char** argv = nullptr;
       const auto program = [&] {
         const runtime started(argc, argv);
         const grid<pod> g;
         if (g.rank() == 1) throw error("mine");
         (void)complete(addends(g, length{4}));
       };
       try {
         program();
       } catch (const error& e) {
         std::fprintf(stderr, "dimesh: rank %d: %s\n", detail::world_rank(), e.what());
         // The launcher takes the others down when it sees this; they have a sentence to say.
         std::this_thread::sleep_for(std::chrono::milliseconds(300));
         std::exit(1);
       }
     },
     true},
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
    //   rank 0: [^\n]*waiting in 'all_reduce' along rows of plane[^\n]*rank 2 waits in
    //   'all_reduce' along cols of plane
    //   rank 2: [^\n]*waiting in 'all_reduce' along cols of plane
    {"waits_elsewhere",
     [] {
       const grid<plane> g(cols{2});
       using by_cols = layout<plane, partial<rows>, split<length, cols>>;
       using by_rows = layout<plane, partial<cols>, split<length, rows>>;
       const tensor<double, by_cols, length> x(g, length{4});
       const tensor<double, by_rows, length> y(g, length{4});
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
    //   rank 0: [^\n]*waiting in 'all_reduce'[^\n]* for \d\.\d s: rank 0[^\n]*rank 1 is in no call
    //   that ranks make together
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
    // case grid_sizes: 4
    //   rank 0: grid: the ranks of this communicator make different calls: [^\n]*'grid' along
    //   rows=\? x cols=2 of plane [^\n]*rank 1 is the first that differs: [^\n]*cols=3 of plane
    //   rank 1: grid: the ranks of this communicator make different calls
    {"grid_sizes", [] { const grid<plane> g(cols{run_fail::rank() == 1 ? 3 : 2}); }},
    // case first_use_of_axes: 4
    //   rank 0: grid: waiting in 'grid' along rows of plane[^\n]*rank 2 has come to the end
    {"first_use_of_axes",
     [] {
       const grid<plane> g(cols{2});
       if (g.rank() < 2) (void)g.along<rows>();
     }},
    // ---- numbers that are none, and replicas that are none ------------------------------------
    // case label_from_one: 1 2
    //   rank 0: softmax_cross_entropy: the number at sample 1 is 4, and dim 'label' has the places
    //   0\.\.3; -1 stands for none
    {"label_from_one",
     [] {
       const grid<pod> g;
       const tensor<float, layout<pod>, sample, label> x =
           zeros<tensor<float, layout<pod>, sample, label>>(g);
       (void)softmax_cross_entropy<label>(x, numbers(g, {-1, 4}));
     }},
    // case sum_does_not_fit: 1
    //   rank 0: sum: a sum of whole numbers is 2147483648\.0+, and its type has those up to
    {"sum_does_not_fit",
     [] {
       const grid<pod> g;
       const auto x = numbers(g, {2147483647, 1});
       if (value(sum<double>(x)) == 2147483648.0) (void)value(sum(x));
     }},
    // case id_outside: 1 2
    //   rank 0: take: the number at sample 0 is 4, and dim 'label' has the places 0\.\.3
    {"id_outside",
     [] {
       const grid<pod> g;
       (void)take<label>(zeros<tensor<float, layout<pod>, label>>(g), numbers(g, {4, 0}));
     }},
    // case class_outside: 1 2
    //   rank 0: one_hot: the number at sample 1 is -2, and dim 'label' has the places 0\.\.3
    {"class_outside",
     [] {
       const grid<pod> g;
       (void)one_hot<label>(numbers(g, {3, -2}));
     }},
    // case id_outside_a_gather: 1 2
    //   rank 0: gather: the number at sample 1 is 4, and dim 'label' has the places 0\.\.3
    {"id_outside_a_gather",
     [] {
       const grid<pod> g;
       (void)gather<label, sample>(zeros<tensor<float, layout<pod>, label>>(g), numbers(g, {0, 4}));
     }},
    // case id_outside_a_count: 1 2
    //   rank 0: bincount: the number at sample 0 is -3, and dim 'label' has the places 0\.\.3
    {"id_outside_a_count",
     [] {
       const grid<pod> g;
       (void)bincount<sample, label>(numbers(g, {-3, 0}));
     }},
    // case replicas_at_a_collective: 4
    //   rank 0: all_reduce: replicas differ: operand 1 is the same along 'rows' by its layout, but
    //   rank 2 holds other elements than rank 0, the first at length 2; make it from
    //   rank 3: all_reduce: replicas differ: [^\n]* rank 3 holds other elements than rank 1
    {"replicas_at_a_collective",
     [] {
       const grid<plane> g(cols{2});
       tensor<double, layout<plane, partial<cols>>, length> x(g, length{4});
       fill(x, 1);
       if (g.coord<rows>() == 1) put(x, 2, 2);
       (void)complete(x);
     }},
    // case replicas_that_travel: 4
    //   rank 2: permute_along: replicas differ: operand 1 is the same along 'cols' by its layout,
    //   but rank 3 holds other elements than rank 2, the first at length 5
    //   rank 3: permute_along: replicas differ
    {"replicas_that_travel",
     [] {
       const grid<plane> g(cols{2});
       tensor<double, layout<plane, split<length, rows>>, length> x(g, length{8});
       fill(x, 1);
       if (g.rank() == 3) put(x, 1, 2);
       (void)permute_along<rows>(x, std::array{1, 0});
     }},
    // case replicas_in_local_operations: 2 4
    //   rank 0: all_reduce: replicas differ: operand 2 of 'operator\*', \[label\], is the same on
    //   these ranks by its layout, but rank 1 holds other elements than rank 0; make it from
    //   rank 1: all_reduce: replicas differ
    {"replicas_in_local_operations",
     [] {
       const grid<pod> g;
       const auto x = zeros<tensor<float, layout<pod, split<length, rows>>, length, label>>(
           g, length{4 * g.ranks()});
       const auto w = generate<tensor<float, layout<pod>, label>>(
           g, [&](index_t i) { return static_cast<float>(i + g.rank()); });
       (void)complete(sum<length>(x * w));
     }},
    // case replicas_past_a_send: 2
    //   rank 0: all_reduce: replicas differ: operand 1 of 'operator\*'
    //   rank 1: all_reduce: replicas differ: operand 1 of 'operator\*'
    {"replicas_past_a_send",
     [] {
       const grid<pod> g;
       const auto w = generate<tensor<double, layout<pod>, label>>(
           g, [&](index_t i) { return static_cast<double>(i + g.rank()); });
       const auto twice = w * 2;
       (void)send<rows, 1>(
           zeros<tensor<double, layout<pod, placed<rows, 0>>, length>>(g, length{4}));
       (void)complete(zeros<addends>(g, length{4}));
     }},
    // case replicas_along_another_axis: 4
    //   went on
    //   exit: 0
    {"replicas_along_another_axis",
     [] {
       const grid<plane> g(cols{2});
       using haloed = layout<plane, split<ragged<length>, cols>, split<label, rows>>;
       const auto x = zeros<tensor<double, haloed, length, label>>(g, cuts<length>{0, 4});
       const auto w = generate<tensor<double, layout<plane, split<sample, cols>>, sample>>(
           g, [](index_t i) { return static_cast<double>(i); });
       const auto twice = w * 2;
       (void)halo_exchange<1, length, label>(x);  // the first rank has nothing to send along cols
       if (g.rank() == 0) std::fprintf(stderr, "went on\n");
     }},
    // case replicas_beside_empty_blocks: 4
    //   rank 1: all_reduce: replicas differ: operand 1 of 'operator\*', \[label\], is the same on
    //   these ranks by its layout, but rank 3 holds other elements than rank 1; make it from
    {"replicas_beside_empty_blocks",
     [] {
       const grid<plane> g(cols{2});
       using columns = layout<plane, partial<rows>, split<ragged<length>, cols>>;
       const auto w = generate<tensor<double, layout<plane>, label>>(
           g, [&](index_t i) { return static_cast<double>(i + g.coord<rows>()); });
       const auto twice = w * 2;
       // The first ranks have nothing to sum, and make no call.
       (void)complete(zeros<tensor<double, columns, length>>(g, cuts<length>{0, 4}));
     }},
    // case replicas_behind_empty_blocks: 4
    //   rank 0: all_reduce: replicas differ: operand 1 of 'operator\*', \[label\], is the same on
    //   these ranks by its layout, but rank 1 holds other elements than rank 0; make it from
    {"replicas_behind_empty_blocks",
     [] {
       const grid<plane> g(cols{2});
       using columns = layout<plane, partial<rows>, split<ragged<length>, cols>>;
       const auto w = generate<tensor<double, layout<plane>, label>>(
           g, [&](index_t i) { return static_cast<double>(i + g.coord<cols>()); });
       const auto twice = w * 2;
       // The first ranks compare it along rows, the others have nothing to sum.
       (void)complete(zeros<tensor<double, columns, length>>(g, cuts<length>{4, 0}));
       (void)complete(zeros<tensor<double, layout<plane, partial<rows>, partial<cols>>, label>>(g));
       (void)complete(zeros<tensor<double, layout<plane, partial<cols>>, label>>(g));
     }},
    // case half_written: 2 3
    //   rank 0: all_reduce: replicas differ: operand 1 of 'operator\*', \[label\], is the same on
    {"half_written",
     [] {
       const grid<pod> g;
       auto w = zeros<tensor<float, layout<pod>, label>>(g);
       if (g.rank() == 0) put(w, 3, 1);
       const auto x = zeros<tensor<float, layout<pod, split<length, rows>>, length, label>>(
           g, length{4 * g.ranks()});
       (void)complete(sum<length>(w * 2 + x));
       (void)complete(sum<length>(w + w + x));
     }},
    // case local_work_of_one_rank: 2 3
    //   went on
    //   exit: 0
    {"local_work_of_one_rank",
     [] {
       const grid<pod> g;
       const addends x = zeros<addends>(g, length{4});
       if (g.rank() == 0) {
         const auto mine = generate<tensor<double, layout<pod>, label>>(
             g, [](index_t i) { return static_cast<double>(i); });
         if (value(sum(mine + mine)) == 12) std::fprintf(stderr, "went on\n");
       }
       auto y = generate<tensor<double, layout<pod>, label>>(
           g, [&](index_t) { return static_cast<double>(g.rank()); });
       y = broadcast<rows>(y * 2, 0);  // which makes it the same
       (void)complete(x);
     }},
    // case elements_of_nothing: 1
    //   rank 0: tensor::data: an operand is not defined: it was moved from, or never made
    {"elements_of_nothing",
     [] {
       const grid<pod> g;
       auto x = zeros<tensor<double, layout<pod>, label>>(g);
       [[maybe_unused]] const auto y = std::move(x);
       x.view()(0) = 1;
     }},
    // case replicas_to_rank: 2 3 4
    //   rank 0: to_rank: replicas differ: the tensor is the same along 'rows' by its layout, but
    //   rank 1 holds other elements than rank 0, the first at length 2
    //   rank 1: to_rank: replicas differ
    {"replicas_to_rank",
     [] {
       const grid<pod> g;
       tensor<double, layout<pod>, length> y(g, length{4});
       fill(y, 1);
       if (g.rank() == 1) put(y, 2, 2);
       (void)to_rank(y);
     }},
    // case replicas_in_a_step: 2 4
    //   rank 0: an optimizer's step: replicas differ: gradient 'b' is the same along 'rows'
    //   [^\n]*rank 1 holds other elements than rank 0, the first at sample 0
    {"replicas_in_a_step",
     [] {
       const grid<pod> g;
       auto p = zeros<both<layout<pod>>>(g);
       auto d = zeros<both<layout<pod>>>(g);
       put(d.b, 0, g.rank() == 0 ? 0.5f : 1.5f);
       sgd{.rate = 0.1}(p, d);
     }},
    // case parameters_in_a_step: 2
    //   rank 0: an optimizer's step: replicas differ: parameter 'a' is the same along 'rows'
    //   [^\n]*the first at sample 1
    {"parameters_in_a_step",
     [] {
       const grid<pod> g;
       auto p = zeros<both<layout<pod>>>(g);
       const auto d = zeros<both<layout<pod>>>(g);
       put(p.a, 1, static_cast<float>(g.rank()));
       auto state = adam{}.start(p);
       adam{}(p, d, state);
     }},
    // case parameters_in_sharded: 2
    //   rank 0: sharded: replicas differ: parameter 'a' is the same along 'rows'
    {"parameters_in_sharded",
     [] {
       const grid<pod> g;
       auto p = zeros<both<layout<pod>>>(g);
       const auto d = zeros<both<gradient<layout<pod>>>>(g);
       put(p.a, 1, static_cast<float>(g.rank()));
       const auto step = sharded<layout<pod, split<sample, rows>>>(adam{});
       auto state = step.start(p);
       step(p, d, state);
     }},
    // case fresh_memory: 1
    //   rank 0: all elements of fresh memory are NaN
    {"fresh_memory",
     [] {
       const grid<pod> g;
       const tensor<float, layout<pod>, length> x(g, length{1000});
       const dimesh::detail::opened memory;
       for (index_t i = 0; i < 1000; ++i)
         if (!std::isnan(x.data()[i])) return;
       throw error("all elements of fresh memory are NaN");
     }},
    // case parameter_left_out: 1 2
    //   dimesh: note: value_and_grad: no path of the value reaches 'b'; its gradient is 0
    //   exit: 0
    {"parameter_left_out",
     [] {
       const grid<pod> g;
       const auto p = zeros<both<layout<pod>>>(g);
       for (int i = 0; i < 2; ++i)
         (void)value_and_grad([](const auto& q) { return sum<sample>(q.a); }, p)();
     }},
    // case pulled_parameter_left_out: 1
    //   dimesh: note: vjp: no path of the value reaches 'a'; its gradient is 0
    //   exit: 0
    {"pulled_parameter_left_out",
     [] {
       const grid<pod> g;
       const auto p = zeros<both<layout<pod>>>(g);
       auto [y, pull] = vjp([](const auto& q) { return 2.0f * q.b; }, p);
       (void)pull(zeros<tensor<float, gradient<layout<pod>>, sample>>(g));
     }},
    // case rule_of_no_dim: 1 2
    //   dimesh: note: no tensor of this program has the dim of the layout rule
    //   [^\n]*split<[^\n]*other::length, [^\n]*rows>; is it another dim of the same name
    //   exit: 0
    {"rule_of_no_dim",
     [] {
       const grid<pod> g;
       const tensor<float, layout<pod, split<other::length, rows>>, length> x(g, length{4});
     }},
    // case key_of_two_tensors: 1 2
    //   dimesh: note: one random_key has filled two tensors \[sample, label\], which have the
    //   same numbers then; key.fold\(n\) gives each its own
    //   exit: 0
    {"key_of_two_tensors",
     [] {
       using weights = tensor<float, layout<pod>, sample, label>;
       const grid<pod> g;
       const auto up = normal<weights>(g, random_key{1}, 0, 1);
       const auto down = normal<weights>(g, random_key{1}, 0, 1);
     }},
    // case keys_folded: 2
    //   (?s)\A(?!.*random_key)
    //   exit: 0
    {"keys_folded",
     [] {
       using weights = tensor<float, layout<pod>, sample, label>;
       const grid<pod> g;
       const random_key key{1};
       auto up = normal<weights>(g, key.fold(0), 0, 1);
       const auto down = normal<weights>(g, key.fold(1), 0, 1);
       fill_normal(up, key.fold(0), 0, 1);  // drawn anew
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
    // case message_never_sent: 2 3
    //   rank 1: send: rank 1 waits in 'send' along rows of pod[^\n]* for rank 0 for [\d.]+
    //   s; that rank has come to the end of the program
    {"message_never_sent",
     [] {
       const grid<pod> g;
       const auto x = zeros<tensor<double, layout<pod, placed<rows, 0>>, length>>(g, length{4});
       if (g.rank() != 0) (void)send<rows, 1>(x);
     }},
    // case ends_of_a_message_differ: 2 3
    //   rank 1: send: the two ranks of a message make different calls: rank 1 is about to do 'send'
    //   along rows of pod with 6 elements of double \(its call \d+\); rank 0, from which it comes,
    //   is about to do 'send' along rows of pod with 4 elements of double \(its call \d+\); dim
    //   'length' has 6 and 4 elements
    {"ends_of_a_message_differ",
     [] {
       const grid<pod> g;
       const auto x = zeros<tensor<double, layout<pod, placed<rows, 0>>, length>>(
           g, length{g.rank() == 0 ? 4 : 6});
       (void)send<rows, 1>(x);
     }},
    // case message_after_a_refused_one: 2
    //   rank 1: send: a message of rank 0 to rank 1 was refused before, and would come first
    {"message_after_a_refused_one",
     [] {
       const grid<pod> g;
       using first = tensor<double, layout<pod, placed<rows, 0>>, length>;
       try {
         (void)send<rows, 1>(zeros<first>(g, length{g.rank() == 0 ? 4 : 6}));
       } catch (const error&) {}
       (void)send<rows, 1>(zeros<first>(g, length{4}));
     }},
    // case messages_begun_and_not: 2
    //   all were right
    //   exit: 0
    {"messages_begun_and_not",
     [] {
       const grid<pod> g;
       using first = tensor<double, layout<pod, placed<rows, 0>>, length>;
       const auto of = [&](index_t n) { return constant<first>(g, double(n), length{n}); };
       bool right = true;
       const auto check = [&](const auto& y, index_t n) {
         const dimesh::detail::opened memory;
         right = right && (g.rank() != 1 || y.data()[0] == double(n));
       };
       if (g.rank() == 0)
         check(await(start_send<rows, 1>(of(3))), 3);
       else
         check(send<rows, 1>(of(3)), 3);
       if (g.rank() == 1)
         check(await(start_send<rows, 1>(of(4))), 4);
       else
         check(send<rows, 1>(of(4)), 4);
       check(send<rows, 1>(of(6)), 6);
       for (int i = 0; i < 100; ++i) (void)send<rows, 1>(of(0));
       check(send<rows, 1>(of(5)), 5);
       if (g.rank() == 1 && right) std::fprintf(stderr, "all were right\n");
     }},
    // case started_message_never_sent: 2
    //   rank 1: await: rank 1 waits in 'await' along rows of pod[^\n]* for rank 0 for [\d.]+
    //   s; that rank has come to the end
    {"started_message_never_sent",
     [] {
       const grid<pod> g;
       const auto x = zeros<tensor<double, layout<pod, placed<rows, 0>>, length>>(g, length{4});
       if (g.rank() != 0) (void)await(start_send<rows, 1>(x));
     }},
    // case later_halos_never_sent: 4
    //   rank 1: await: rank 1 waits in 'await' along cols of plane[^\n]* for the others for [\d.]+
    //   s; rank 0 is in no call that ranks make together
    {"later_halos_never_sent",
     [] {
       const grid<plane> g(cols{2});
       using blocks = layout<plane, split<length, rows>, split<label, cols>>;
       auto halos = start_halo_exchange<1, length, label>(
           zeros<tensor<double, blocks, length, label>>(g, length{4}));
       if (g.rank() == 0) std::this_thread::sleep_for(std::chrono::seconds(8));
       (void)await(std::move(halos));
     }},
    // case message_never_taken: 2 3
    //   rank 0: send: rank 0 waits in 'send' along rows of pod[^\n]* for rank 1 for [\d.]+
    //   s; that rank has come to the end of the program
    {"message_never_taken",
     [] {
       const grid<pod> g;
       const auto x =
           zeros<tensor<double, layout<pod, placed<rows, 0>>, length>>(g, length{1000000});
       if (g.rank() != 1) (void)send<rows, 1>(x);
     }},
    // case grids_of_two_threads: 2 3
    //   both threads: 1200
    //   exit: 0
    {"grids_of_two_threads",
     [] {
       int argc = 0;
       char** argv = nullptr;
       const runtime r(argc, argv, MPI_THREAD_MULTIPLE);
       MPI_Comm comms[2];
       for (MPI_Comm& c : comms) MPI_Comm_dup(MPI_COMM_WORLD, &c);
       std::atomic<int> sums{0};
       const auto work = [&](MPI_Comm comm, int steps) {
         for (int i = 0; i < 40; ++i) {
           const grid<pod> g(comm);
           for (int k = 0; k < steps; ++k, ++sums) (void)complete(addends(g, length{steps}));
         }
       };
       // The first thread of one rank is the second of the next.
       const int first = run_fail::rank() % 2;
       std::thread other([&] { work(comms[first], first == 0 ? 10 : 20); });
       work(comms[1 - first], first == 0 ? 20 : 10);
       other.join();
       for (MPI_Comm& c : comms) MPI_Comm_free(&c);
       if (run_fail::rank() == 0) std::fprintf(stderr, "both threads: %d\n", sums.load());
     },
     true},
    // case orders_of_two_threads: 2 3
    //   both threads: 80
    //   exit: 0
    {"orders_of_two_threads",
     [] {
       int argc = 0;
       char** argv = nullptr;
       const runtime r(argc, argv, MPI_THREAD_MULTIPLE);
       MPI_Comm comms[2];
       for (MPI_Comm& c : comms) MPI_Comm_dup(MPI_COMM_WORLD, &c);
       std::atomic<int> scans{0};
       const auto work = [&](MPI_Comm comm, int steps) {
         for (int i = 0; i < 40; ++i, ++scans) {
           const grid<pod> g(comm);
           const length n{steps * g.ranks()};
           const tensor<double, layout<pod, split<length, rows>>, length> x(g, n);
           for (int k = 0; k < steps; ++k) (void)cumsum_exscan<length>(x, {.reverse = true});
         }
       };
       const int first = run_fail::rank() % 2;
       std::thread other([&] { work(comms[first], first == 0 ? 5 : 10); });
       work(comms[1 - first], first == 0 ? 10 : 5);
       other.join();
       for (MPI_Comm& c : comms) MPI_Comm_free(&c);
       if (run_fail::rank() == 0) std::fprintf(stderr, "both threads: %d\n", scans.load());
     },
     true},
};
}  // namespace

int main(int argc, char** argv) { return cases.run(argc, argv); }
