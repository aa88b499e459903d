// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do rows go to the ranks of their groups, and back? They are packed in the order of a table,
// go by one all-to-all, and are put where the table says: a permutation of those rows of all ranks
// that have a group, so the way back, zeros for the others, is the transpose.
//
//   dispatch_op<float, false>{table, far_grid::of(x)}    rows by group, cut as the table says
//   dispatch_op<float, true>{table, far_grid::of(y)}     as they were
#pragma once

#include <cstring>

#include "dimesh/core/flight.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/memory/memory.hpp"
#include "dimesh/op/parts/dispatch_table.hpp"
#include "dimesh/op/parts/far_grid.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

/// Rows of a block: `outer` runs of `inner` elements each, `rows` of them along the dim.
struct row_lines {
  index_t outer = 1, rows = 0, inner = 1;
  row_lines(const tensor_core& x, int d) : rows(x.local(d)) {
    for (int i = 0; i < d; ++i) outer *= x.local(i);
    for (int i = d + 1; i < x.rank(); ++i) inner *= x.local(i);
  }
  index_t across() const { return outer * inner; }
};
template <class T>
void pack_rows(const row_lines& l, const std::vector<index_t>& at, const T* x, T* packed) {
  const writes_memory kernel;
  const auto bytes = static_cast<std::size_t>(l.inner) * sizeof(T);
  for (const index_t row : at)
    for (index_t o = 0; o < l.outer; ++o, packed += l.inner)
      std::memcpy(packed, x + (o * l.rows + row) * l.inner, bytes);
}
template <class T>
void unpack_rows(const row_lines& l, const std::vector<index_t>& at, const T* packed, T* y) {
  const writes_memory kernel;
  const auto bytes = static_cast<std::size_t>(l.inner) * sizeof(T);
  for (const index_t row : at)
    for (index_t o = 0; o < l.outer; ++o, packed += l.inner)
      std::memcpy(y + (o * l.rows + row) * l.inner, packed, bytes);
}

/// What MPI reads until a started call is over.
struct row_counts {
  std::vector<collective::run> send, receive;  // elements; none of the own part
  std::vector<int> send_count, send_at, receive_count, receive_at;
  index_t sent = 0, received = 0;  // elements

  row_counts(const std::vector<collective::run>& out, const std::vector<collective::run>& in,
             index_t across, std::size_t me) {
    for (std::size_t r = 0; r < out.size(); ++r) {
      send.push_back(r == me ? collective::run{}
                             : collective::run{out[r].at * across, out[r].count * across});
      receive.push_back(r == me ? collective::run{}
                                : collective::run{in[r].at * across, in[r].count * across});
      sent += send.back().count, received += receive.back().count;
    }
  }
  collective::call_counts ints(int units) {
    for (std::size_t r = 0; r < send.size(); ++r) {
      send_count.push_back(static_cast<int>(send[r].count * units));
      send_at.push_back(static_cast<int>(send[r].at * units));
      receive_count.push_back(static_cast<int>(receive[r].count * units));
      receive_at.push_back(static_cast<int>(receive[r].at * units));
    }
    return {send_count.data(), send_at.data(), receive_count.data(), receive_at.data()};
  }
};

/// Elements T. Back: from groups to where the rows came from.
template <class T, bool Back> struct dispatch_op {
  static constexpr event_kind kind = event_kind::all_to_all;
  static constexpr bool on_host = true;
  static constexpr std::string_view call = Back ? "all_to_all_back" : "all_to_all";
  static constexpr bool takes_complex = true;
  std::shared_ptr<const dispatch_table> table;  // of shapes: nothing is known but new cuts
  far_grid where;
  cut_list cuts;  // of the result
  unsigned once = 0;
  int axis = 0;

  /// For an operand x. Throws dimesh::error, on all ranks alike, where its rows are not those of
  /// the table.
  dispatch_op(std::shared_ptr<const dispatch_table> t, const tensor_core& x, int a)
      : table(std::move(t)),
        where(far_grid::of(x)),
        cuts(Back ? table->before : table->after),
        once(x.once),
        axis(a) {
    if (!x.is_shape && x.grid != table->grid) refuse_grids(call);
    const cut_list& known = Back ? table->after : table->before;
    const cut_record *const was = known.first(), *is = cuts_of_dim(x.cuts.first(), table->rows);
    const bool ragged = (x.facts->ragged >> place_in(x) & 1u) != 0;
    if (x.extent(place_in(x)) != (Back ? table->extent_after() : table->extent) ||
        ragged != (was != nullptr) || (ragged && !x.is_shape && is->begin != was->begin))
      refuse_rows();
    cuts.add_all(x.cuts);
  }
  void land(tensor_core& y) const {
    const bool ragged = (y.facts->ragged >> place_in(y) & 1u) != 0;
    if (ragged != ((Back ? table->before : table->after).first() != nullptr)) refuse_rows();
    where.take(y);
    y.once = once & y.facts->partial;
    y.cuts = cuts;
  }
  constexpr index_t extent_of(const dim_facts* d) const {
    return !same_dim(d, table->rows) ? dynamic : Back ? table->extent : table->extent_after();
  }
  void fill(results y, operands x) const { move(y[0], x[0], nullptr); }
  void start(results y, operands x, flight& f) const { move(y[0], x[0], &f); }
  /// Of shapes as though every rank gave every other one as many rows.
  void cost(tally& t, results y, operands x) const {
    const index_t n = x[0].sizes()[axis];
    const int d = place_in(x[0]);
    if (n == 1 || x[0].extent(d) == 0 || row_lines(x[0], d).across() == 0) return;
    const auto passed_on = [&](const tensor_core& of) {
      const index_t here = of.local(place_in(of));
      return here == 0 ? 0 : of.bytes() / here * (here - here / n);
    };
    t.collective(event_kind::all_to_all, 1u << axis, passed_on(x[0]), passed_on(y[0]));
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    to.give(0, dispatch_op<T, !Back>(table, to.ybar, axis), to.ybar);
  }

 private:
  void move(const tensor_core& y, const tensor_core& x, flight* later) const {
    const dispatch_table& t = *table;
#ifdef DIMESH_CHECKED
    // A rank that goes by another plan is one that makes another call.
    const while_doing here(call, doing::now().operands ^ t.told, doing::now().extents);
#endif
    const int d = place_in(x);
    const row_lines from(x, d);
    const std::vector<index_t>&out = Back ? t.arrive : t.leave, &in = Back ? t.leave : t.arrive;
    const auto bytes = [&](const std::vector<index_t>& of) {
      return of.size() * static_cast<std::size_t>(from.across()) * sizeof(T);
    };
    const storage packed = storage::acquire(bytes(out)), received = storage::acquire(bytes(in));
    pack_rows(from, out, x.data<const T>(), static_cast<T*>(packed.data()));
    if (send(packed, received, from.across(), later)) {
      later->out = packed, later->in = received;
      later->plan = t.shared_from_this();
      later->axes = t.over->axes();
      later->land = [](flight& f, tensor_core& result) {
        const auto& same = static_cast<const dispatch_table&>(*f.plan);
        land_rows(same, result, static_cast<const T*>(f.in.data()));
        return true;
      };
    } else {
      land_rows(t, y, static_cast<const T*>(received.data()));
    }
  }
  /// Rows that went nowhere come back as zeros.
  static void land_rows(const dispatch_table& t, const tensor_core& y, const T* received) {
    const row_lines to(y, y.facts->place_of(t.rows));
    const std::vector<index_t>& in = Back ? t.leave : t.arrive;
    if (static_cast<index_t>(in.size()) < to.rows) zero_bytes(y.data<T>(), y.bytes());
    unpack_rows(to, in, received, y.data<T>());
  }
  /// True: the call has begun only.
  bool send(const storage& packed, const storage& received, index_t across, flight* later) const {
    const auto me = static_cast<std::size_t>(table->me());
    const auto &out = Back ? table->receive : table->send,
               &in = Back ? table->send : table->receive;
    const T* const x = static_cast<const T*>(packed.data());
    T* const y = static_cast<T*>(received.data());
    collective::copy(x + out[me].at * across, y + in[me].at * across, out[me].count * across);
    const index_t most = table->most * across;
    if (table->over == nullptr || most == 0) return false;
    const auto counts = std::make_shared<row_counts>(out, in, across, me);
    if (later == nullptr || most > collective::most_per_call<T>) {
      collective::all_to_all_v(*table->over, x, counts->send.data(), y, counts->receive.data(),
                               most);
      return false;
    }
    const collective::wire& w = collective::wire_of<T>;
    later->under_way.keep(std::shared_ptr<const void>(counts));
    collective::all_to_all_counted(*table->over, w, collective::bytes_of(x), counts->sent,
                                   collective::bytes_of(y), counts->received, most,
                                   counts->ints(w.units()), &later->under_way);
    return true;
  }
  /// (Of groups that were counted in a runtime tensor a type may say other blocks.)
  [[noreturn]] void refuse_rows() const {
    (words() << call << ": the rows of dim '" << table->rows->name
             << "' lie otherwise than those whose groups were counted; count theirs by "
                "all_to_all_counts")
        .raise();
  }
  int place_in(const tensor_core& x) const { return x.facts->place_of(table->rows); }
};

}  // namespace dimesh::detail
