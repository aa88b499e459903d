// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// alone: docs/relayout.md runs its program
// ranks: 1 2 4 8
// timeout: 1800
// labels: device
// Relayout between every pair of layouts of meshes of one, two and three axes: the steps that a
// route names, run one by one on layouts that only the run knows (so that all of them cost the
// compiler nothing), contents against whole arrays, MPI's bytes against the costs that shapes
// foresee; and routes beside the best that three collectives can do. DIMESH_ALL_PAIRS=1 takes all
// pairs where every axis has several ranks, which takes minutes (docs/relayout.md).
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "dimesh/core/run_plain.hpp"
#include "dimesh/op/relayout.hpp"
#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dd = dimesh::detail;
using dd::hop;
using dd::table;
using dd::tensor_core;
using dimesh::use;

// ---- all layouts --------------------------------------------------------------------------------

/// What axes may do besides splitting dims and replicating, and how dims are cut.
struct uses {
  bool partial = false, placed = false;
  bool uneven = false, ragged = false;
};

/// All tables for some axes over some dims. Placed: at the last coordinate.
std::vector<table> all_tables(int axes, int dims, const std::vector<index_t>& sizes, uses may) {
  std::vector<table> all;
  std::vector<int> order(static_cast<std::size_t>(axes));
  for (int a = 0; a < axes; ++a) order[static_cast<std::size_t>(a)] = a;
  do {
    extents choices(order.size(), dims + 3);
    for_each_index(choices, [&](const extents& does) {
      table t;
      t.axes = axes;
      for (const int a : order) {
        const index_t what = does[static_cast<std::size_t>(a)];
        if (what < dims) t.set_split(a, static_cast<int>(what));
        if (what == dims + 1) t.axis[a] = {use::partial};
        if (what == dims + 2)
          t.set_placed(a, static_cast<int>(sizes[static_cast<std::size_t>(a)]) - 1);
        if ((what == dims + 1 && !may.partial) || (what == dims + 2 && !may.placed)) return;
      }
      for (int d = 0; d < dims; ++d)
        if (t.split_count(d) > 0) t.uneven[d] = may.uneven || may.ragged, t.ragged[d] = may.ragged;
      if (std::find(all.begin(), all.end(), t) == all.end()) all.push_back(t);
    });
  } while (std::next_permutation(order.begin(), order.end()));
  return all;
}

std::string said(const table& t) {
  std::string text;
  for (int a = 0; a < t.axes; ++a) {
    const dd::axis_use u = t.axis[a];
    text += u.what == use::partial  ? " +"
            : u.what == use::placed ? " @" + std::to_string(u.at)
            : u.what == use::split  ? " d" + std::to_string(u.dim) + "." + std::to_string(u.level)
                                    : " .";
  }
  return text;
}

// ---- tensors whose layout the run knows ---------------------------------------------------------

template <class M, class... D> struct family {
  using spec = dimesh::spec_of<dimesh::tensor<double, dimesh::layout<M>, D...>>;
  const dimesh::grid<M>& g;
  extents size;
  dd::cut_list cuts;  // for layouts with ragged dims

  family(const dimesh::grid<M>& grid, const extents& n) : g(grid), size(n) {
    const index_t blocks = g.everyone().size();
    int d = 0;
    const auto cut = [&](const dd::dim_facts* dim) {
      const index_t all = size[static_cast<std::size_t>(d++)];
      std::vector<index_t> begin{0};
      for (index_t b = 1; b < blocks; ++b)
        begin.push_back(std::min(all, all * b * b / (blocks * blocks) + b % 2 * d));
      begin.push_back(all);
      std::sort(begin.begin(), begin.end());
      cuts.add(dim, std::move(begin));
    };
    (cut(&dd::facts_of_dim<D>), ...);
  }
  static const dd::tensor_facts* facts(const table& t) {
    return &dd::facts_under(dd::spec_facts<spec>, t);
  }
  tensor_core tensor(const table& t) const {
    tensor_core x(facts(t));
    x.cuts = cuts;
    x.make_on(&g, g.state(), size.data(), {});
    return x;
  }
  tensor_core shape(const table& t, dd::tally& count) const {
    tensor_core x(facts(t));
    x.cuts = cuts;
    test_support::detail::sit_on(count, g.state());
    x.make_shape(g.state().sizes(), size.data(), &count);
    return x;
  }
  test_support::detail::holding held(const tensor_core& x) const {
    namespace td = test_support::detail;
    td::holding h{{{std::string(dd::name_of<D>())...}, size, {}},
                  x.layout(),
                  {x.sizes(), x.sizes() + M::rank},
                  {g.state().coords(), g.state().coords() + M::rank},
                  {},
                  {},
                  x.elements(),
                  x.once,
                  g.everyone().handle(),
                  sizeof(double),
                  x.data<void>(),
                  x.facts->space,
                  &td::load_as<double>,
                  &td::store_as<double>};
    for (int d = 0; d < x.rank(); ++d) {
      h.blocks.push_back(x.own(d));
      h.cuts.push_back(dd::cuts_of_dim(cuts.first(), x.facts->dim[d])->begin);
    }
    return h;
  }

  template <class Op> static tensor_core run(const Op& op, const tensor_core& x, const table& to) {
    const dd::bound<Op, 0> b(op);
    tensor_core y(facts(to));
    tensor_core* const out[] = {&y};
    const tensor_core* in[] = {&x};
    dd::run_plain(b, dd::results(out, 1), in, 1, false, nullptr);
    return y;
  }
  static tensor_core step(const tensor_core& x, const dd::route::step& s) {
    const unsigned moved = dd::moved_axes(x.layout(), s.to);
    const int a = dd::first_axis(moved);
    const bool between = s.kind == hop::send || s.kind == hop::reduce || s.kind == hop::broadcast ||
                         s.kind == hop::place;
    if (!between &&
        dd::talking(s.kind == hop::all_reduce ? moved & ~x.once : moved, x.sizes()) == 0)
      return run(silent_op{}, x, s.to);
    switch (s.kind) {
      case hop::own:
        return run(dd::cut_op<double>{}, x, s.to);
      case hop::reduce_scatter:
        return run(dd::reduce_scatter_op<double>{}, x, s.to);
      case hop::all_reduce:
        return run(dd::all_reduce_op<double>{{moved}}, x, s.to);
      case hop::all_gather:
        return run(dd::all_gather_op<double>{}, x, s.to);
      case hop::send:
        return run(dd::send_op<double>{a}, x, s.to);
      case hop::reduce:
        return run(dd::reduce_op<double>{a}, x, s.to);
      case hop::broadcast:
        return run(dd::broadcast_op<double>{a, 0}, x, s.to);
      case hop::place:
        return run(dd::place_op<double>{}, x, s.to);
      default:
        return run(dd::exchange_op<double>{}, x, s.to);
    }
  }
  tensor_core walk(tensor_core x, const table& to) const {
    dd::tensor_facts known = *x.facts;
    dd::shared_facts sized = *known.shared;
    sized.axis_sizes = g.state().sizes();  // as where types say them: routes may differ by that
    known.shared = &sized;
    const dd::route r = dd::tidied_route(known, to);
    for (int i = 0; i < r.size; ++i) x = step(x, r.at[i]);
    return x;
  }

 private:
  /// Where nobody has anything to say, the memory is the same.
  struct silent_op {
    static constexpr int aliases = 0;
    constexpr void cost(dd::tally&, dd::results, dd::operands) const {}
    void fill(dd::results, dd::operands) const {}
  };
};

index_t sizes_product(const std::vector<index_t>& sizes) {
  index_t n = 1;
  for (const index_t s : sizes) n *= s;
  return n;
}

/// Nothing becomes addends that was none.
bool is_goal(const table& from, const table& to) {
  return (to.mask(use::partial) & ~from.mask(use::partial)) == 0;
}

/// Every stride-th pair of layouts, from those that `from` allows to those that `to` allows; on
/// more than four ranks one of `fewer` of them.
template <class M, class... D>
void check_pairs(const dimesh::grid<M>& g, const extents& size, uses from, uses to, int stride,
                 int fewer = 4) {
  namespace td = test_support::detail;
  const family<M, D...> all(g, size);
  const std::vector<index_t> sizes(g.state().sizes(), g.state().sizes() + M::rank);
  const array a = numbers({std::string(dd::name_of<D>())...}, size, 3);
  const bool origin = std::all_of(g.state().coords(), g.state().coords() + M::rank,
                                  [](index_t c) { return c == 0; });
  const bool all_busy = *std::min_element(sizes.begin(), sizes.end()) > 1;
  if (sizes_product(sizes) > 4) stride *= all_busy ? fewer : 16 * fewer;
  if (all_busy && std::getenv("DIMESH_ALL_PAIRS") != nullptr) stride = 1;
  index_t pairs = 0;
  int k = 0;
  for (const table& t : all_tables(M::rank, sizeof...(D), sizes, from))
    for (const table& u : all_tables(M::rank, sizeof...(D), sizes, to)) {
      if (!is_goal(t, u) || k++ % stride != 0) continue;
      ++pairs;
      INFO("from", said(t), " to", said(u));
      const tensor_core x = all.tensor(t);
      td::scatter(a, all.held(x));
      dd::tally foreseen;
      (void)all.walk(all.shape(t, foreseen), u);
      census::reset();
      const tensor_core y = all.walk(x, u);
      const auto seen = census::snapshot();
      CHECK(td::disagreement(all.held(y), a, 0) == "");
      CHECK(td::misjudged(seen, foreseen, origin) == "");
    }
  if (origin)
    MESSAGE(pairs, " of ", k, " pairs of layouts, ", sizeof...(D), " dims on ", M::rank, " axes");
}

constexpr uses anything{.partial = true, .placed = true};
constexpr uses pure{}, uneven{.uneven = true}, ragged{.ragged = true};
constexpr uses uneven_sums{.partial = true, .uneven = true};
constexpr uses ragged_sums{.partial = true, .ragged = true};
constexpr uses placed{.placed = true};
constexpr uses sums{.partial = true};

TEST_CASE("between all layouts of one axis and of two") {
  for_each_grid<line>([](const dimesh::grid<line>& g) {
    check_pairs<line, p, q, r>(g, {24, 24, 24}, anything, placed, 1);
    check_pairs<line, p, q, r>(g, {5, 3, 2}, uneven_sums, uneven, 1);
    check_pairs<line, p, q, r>(g, {5, 3, 2}, ragged_sums, uneven, 1);
    check_pairs<line, p, q, r>(g, {5, 3, 2}, uneven_sums, ragged, 1);
  });
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    check_pairs<plane, p, q>(g, {24, 24}, anything, placed, 3);
    check_pairs<plane, p, q, r>(g, {24, 24, 24}, pure, pure, 3);
    check_pairs<plane, p, q, r>(g, {5, 3, 2}, uneven_sums, uneven, 5);
    check_pairs<plane, p, q>(g, {7, 5}, ragged_sums, ragged, 1);
    check_pairs<plane, p, q>(g, {7, 5}, uneven, ragged, 1);
    check_pairs<plane, p, q>(g, {7, 5}, ragged, uneven, 1);
  });
}

TEST_CASE("from addends to addends: along some of their axes they are summed, along others not") {
  for_each_grid<line>([](const dimesh::grid<line>& g) {
    check_pairs<line, p, q>(g, {24, 24}, anything, anything, 1);
    check_pairs<line, p, q>(g, {5, 3}, uneven_sums, uneven_sums, 1);
  });
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    check_pairs<plane, p, q>(g, {24, 24}, anything, anything, 7);
    check_pairs<plane, p, q>(g, {7, 5}, uneven_sums, uneven_sums, 2);
    check_pairs<plane, p, q>(g, {7, 5}, ragged_sums, ragged_sums, 5);
  });
  for_each_grid<cube>([](const dimesh::grid<cube>& g) {
    check_pairs<cube, p, q>(g, {24, 24}, sums, sums, 89);
    check_pairs<cube, p, q>(g, {7, 5}, uneven_sums, uneven_sums, 83);
  });
}

TEST_CASE("between all layouts of three axes that add up nothing") {
  for_each_grid<cube>(
      [](const dimesh::grid<cube>& g) { check_pairs<cube, p, q>(g, {24, 24}, pure, pure, 1, 1); });
}

TEST_CASE("between layouts of three axes: sums, places, blocks of any lengths, three dims") {
  for_each_grid<cube>([](const dimesh::grid<cube>& g) {
    check_pairs<cube, p, q>(g, {7, 5}, uneven, uneven, 3);
    check_pairs<cube, p, q>(g, {24, 24}, anything, placed, 37);
    check_pairs<cube, p, q>(g, {7, 5}, uneven_sums, uneven, 11);
    check_pairs<cube, p, q>(g, {7, 5}, ragged_sums, ragged, 11);
    check_pairs<cube, p, q>(g, {7, 5}, ragged, uneven, 7);
    check_pairs<cube, p, q, r>(g, {7, 5, 3}, uneven, uneven, 41);
    check_pairs<cube, p, q, r>(g, {8, 8, 8}, pure, pure, 101);
  });
}

/// Axes one after another, where the moves of all of them can be made so.
struct tower : dimesh::mesh<x, y, z> {
  static constexpr bool moves_by_axis = true;
};

TEST_CASE("between layouts of three axes on a mesh that moves by axis") {
  for_each_grid<tower>([](const dimesh::grid<tower>& g) {
    check_pairs<tower, p, q>(g, {24, 24}, pure, pure, 7, 1);
    check_pairs<tower, p, q>(g, {7, 5}, uneven, uneven, 17);
    check_pairs<tower, p, q>(g, {7, 5}, ragged, uneven, 29);
  });
}

// ---- is there a better way? ---------------------------------------------------------------------

/// Received by all ranks together, in elements: a naive account, of even blocks.
struct account {
  std::vector<index_t> sizes;
  extents size;

  std::vector<dimesh::block> box(const table& t, const extents& at) const {
    std::vector<dimesh::block> b;
    for (std::size_t d = 0; d < size.size(); ++d) {
      index_t begin = 0, length = size[d];
      for (int level = 0, a = 0; (a = t.axis_at(static_cast<int>(d), level)) >= 0; ++level) {
        length /= sizes[static_cast<std::size_t>(a)];
        begin += length * at[static_cast<std::size_t>(a)];
      }
      b.push_back({begin, length});
    }
    return b;
  }
  static double elements(const std::vector<dimesh::block>& b) {
    double n = 1;
    for (const dimesh::block& of : b) n *= static_cast<double>(of.length);
    return n;
  }
  double lacking(const table& from, const table& to) const {
    double n = 0;
    for_each_index(sizes, [&](const extents& at) {
      const auto had = box(from, at), wanted = box(to, at);
      std::vector<dimesh::block> both;
      for (std::size_t d = 0; d < had.size(); ++d) {
        const index_t begin = std::max(had[d].offset, wanted[d].offset);
        const index_t end =
            std::min(had[d].offset + had[d].length, wanted[d].offset + wanted[d].length);
        both.push_back({begin, std::max<index_t>(0, end - begin)});
      }
      n += elements(wanted) - elements(both);
    });
    return n;
  }
  double ranks(unsigned axes) const {
    double n = 1;
    for (std::size_t a = 0; a < sizes.size(); ++a)
      if (axes >> a & 1u) n *= static_cast<double>(sizes[a]);
    return n;
  }
  /// What one collective from one table to another costs; infinite where there is none.
  double step(const table& from, const table& to) const {
    const double never = std::numeric_limits<double>::infinity();
    const unsigned was = from.mask(use::partial), is = to.mask(use::partial);
    if ((is & ~was) != 0) return never;
    const unsigned summed = was & ~is;
    if (summed == 0) return lacking(from, to);
    const double everyone = ranks((1u << sizes.size()) - 1), over = ranks(summed);
    const double ring = (over - 1) / over * everyone * elements(box(from, extents(sizes.size())));
    const unsigned scattered = summed & to.mask(use::split);
    table back = to;  // less the axes that are summed: as before, if they split at the minor ends
    for (int a = 0; a < to.axes; ++a)
      if (summed >> a & 1u) {
        for (int b = 0; (scattered >> a & 1u) && b < to.axes; ++b)
          if (to.axis[b].what == use::split && to.axis[b].dim == to.axis[a].dim &&
              to.axis[b].level > to.axis[a].level && !(scattered >> b & 1u))
            return never;
        if (scattered >> a & 1u) back.unsplit(a);
        back.axis[a] = {use::partial};
      }
    for (int a = 0; a < to.axes; ++a)
      if (back.axis[a].what != from.axis[a].what ||
          (back.axis[a].what == use::split && !(back.axis[a] == from.axis[a])))
        return never;
    if (scattered == summed) return ring;
    return scattered == 0 ? 2 * ring : never;
  }
};

TEST_CASE("routes beside the best of three collectives: equal") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 1) return;  // nothing here depends on them
  struct mesh_case {
    std::vector<index_t> sizes;
    extents size;
  };
  for (const mesh_case& c :
       {mesh_case{{4}, {8, 4}}, mesh_case{{2, 4}, {8, 8}}, mesh_case{{3, 2}, {6, 6, 12}},
        mesh_case{{2, 2, 2}, {8, 8}}, mesh_case{{2, 3, 4}, {24, 24}}}) {
    const account count{c.sizes, c.size};
    const auto tables = all_tables(static_cast<int>(c.sizes.size()),
                                   static_cast<int>(c.size.size()), c.sizes, {.partial = true});
    const std::size_t n = tables.size();
    const dd::route_terms known{
        {dd::dims_in<dd::list<p, q, r>>.at, static_cast<int>(c.size.size())}, c.sizes.data()};
    int routes = 0;
    std::vector<std::vector<double>> cost(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) cost[i][j] = count.step(tables[i], tables[j]);
    for (std::size_t from = 0; from < n; ++from) {
      std::vector<double> best = cost[from];  // what costs nothing is local, and does not count
      for (int k = 0; k < 3; ++k) {
        std::vector<double> next = best;
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < n; ++j) next[j] = std::min(next[j], best[i] + cost[i][j]);
        best = next;
      }
      for (std::size_t to = 0; to < n; ++to) {
        if (!is_goal(tables[from], tables[to])) continue;
        const dd::route r = dd::route_between(tables[from], tables[to], known);
        double ours = 0;
        const table* now = &tables[from];
        for (int i = 0; i < r.size; ++i) {
          ours += count.step(*now, r.at[i].to);
          now = &r.at[i].to;
        }
        INFO("from", said(tables[from]), " to", said(tables[to]), ": ", ours, ", best ", best[to]);
        CHECK(ours == best[to]);
        ++routes;
      }
    }
    MESSAGE(routes, " routes");
  }
}

}  // namespace
