// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do the timelines of all ranks become one picture? They are gathered on rank 0, their clocks
// aligned, and written in Chrome's trace format, which Perfetto (ui.perfetto.dev) and
// chrome://tracing show: a process for each rank, a thread each for compute and communication.
//
//   timeline::instance().start();  step();  timeline::instance().stop();
//   const auto spans = gather_timeline(g);                 // collective; all of them on rank 0
//   if (g.rank() == 0) write_trace("trace.json", spans);
//
// What is done here is neither counted nor recorded by a profiler: it uses MPI's PMPI_ names.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/names.hpp"
#include "dimesh/detail/waiting.hpp"
#include "dimesh/grid.hpp"
#include "dimesh/ledger/timeline.hpp"
#include "dimesh/show/escape.hpp"

namespace dimesh {

/// A time_span of one rank of many.
struct rank_span {
  int rank = 0;
  std::string name = {};
  lane where = lane::compute;
  std::string axes = {};  ///< "rows", "rows+cols"; empty: none known
  std::int64_t bytes = 0;
  double begin = 0, end = 0;  ///< seconds since the first span of all ranks began
  bool idle = false;  ///< nothing was done; grey in the trace
};

namespace detail {

/// What must be added to this rank's clock to read rank 0's: rank 0 is asked for its time, which is
/// taken for that in the middle of the shortest of some round trips (Cristian 1989, "Probabilistic
/// clock synchronization"). Clocks that agree within half a round trip are one clock: 0.
template <class Clock> double clock_offset(MPI_Comm comm, const Clock& now) {
  constexpr int tries = 20, tag = 0;
  int rank = 0, size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  double offset = 0, shortest = std::numeric_limits<double>::infinity(), there = 0;
  for (int t = 0; t < tries * (size - 1) && rank == 0; ++t) {
    const int other = 1 + t / tries;
    check(PMPI_Recv(nullptr, 0, MPI_BYTE, other, tag, comm, MPI_STATUS_IGNORE), "gather_timeline");
    there = now();
    check(PMPI_Send(&there, 1, MPI_DOUBLE, other, tag, comm), "gather_timeline");
  }
  for (int t = 0; t < tries && rank != 0; ++t) {
    const double asked = now();
    check(PMPI_Send(nullptr, 0, MPI_BYTE, 0, tag, comm), "gather_timeline");
    check(PMPI_Recv(&there, 1, MPI_DOUBLE, 0, tag, comm, MPI_STATUS_IGNORE), "gather_timeline");
    const double told = now();
    if (told - asked >= shortest) continue;
    shortest = told - asked;
    offset = there - (asked + told) / 2;
  }
  return std::abs(offset) <= shortest / 2 ? 0 : offset;
}

/// A span on its way to rank 0. Longer names are cut.
struct packed_span {
  std::array<char, 40> name;
  std::int64_t bytes;
  double begin, end;
  std::int32_t where;
  std::uint32_t axes;
};
static_assert(std::is_trivially_copyable_v<packed_span>, "dimesh: spans travel as bytes");

DIMESH_OUTLINE inline std::vector<packed_span> pack_spans(const std::vector<time_span>& spans,
                                                          double offset) {
  std::vector<packed_span> packed(spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const time_span& s = spans[i];
    packed_span& p = packed[i];
    std::strncpy(p.name.data(), s.name, p.name.size() - 1);
    p.bytes = s.bytes, p.begin = s.begin + offset, p.end = s.end + offset;
    p.where = static_cast<std::int32_t>(s.where), p.axes = s.axes;
  }
  return packed;
}

/// Names of the axes in the mask; those that `names` lacks by number.
DIMESH_OUTLINE inline std::string axes_text(unsigned axes, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t a = 0; axes >> a != 0; ++a)
    if (axes >> a & 1u)
      text +=
          (text.empty() ? "" : "+") + (a < names.size() ? names[a] : "axis " + std::to_string(a));
  return text;
}

/// The events that name rank and lanes in a viewer.
DIMESH_OUTLINE inline std::string trace_names(int rank) {
  const std::string pid = "\"pid\":" + std::to_string(rank);
  const auto event = [&](const char* what, const std::string& rest) {
    return std::string("{\"ph\":\"M\",\"name\":\"") + what + "\"," + pid + "," + rest + "},\n";
  };
  return event("process_name", "\"args\":{\"name\":\"rank " + std::to_string(rank) + "\"}") +
         event("process_sort_index", "\"args\":{\"sort_index\":" + std::to_string(rank) + "}") +
         event("thread_name", "\"tid\":0,\"args\":{\"name\":\"compute\"}") +
         event("thread_name", "\"tid\":1,\"args\":{\"name\":\"communication\"}");
}

DIMESH_OUTLINE inline std::string trace_event(const rank_span& s) {
  char times[80];
  std::snprintf(times, sizeof times, "\"ts\":%.3f,\"dur\":%.3f", 1e6 * s.begin,
                1e6 * (s.end - s.begin));
  const bool call = s.where == lane::communication;
  std::string out = "{\"ph\":\"X\",\"name\":" + json_text(s.name) + ",\"cat\":\"" +
                    (call ? "communication" : "compute") + "\",\"pid\":" + std::to_string(s.rank) +
                    ",\"tid\":" + (call ? "1" : "0") + "," + times;
  if (call)
    out +=
        ",\"args\":{\"bytes\":" + std::to_string(s.bytes) + ",\"axes\":" + json_text(s.axes) + "}";
  if (s.idle) out += ",\"cname\":\"grey\"";
  return out + "},\n";
}

}  // namespace detail

/// The recorded spans of all ranks of `comm`, ordered by rank and time, on its rank 0; elsewhere
/// none. Collective. `names`: of the axes, by bit.
DIMESH_OUTLINE inline std::vector<rank_span> gather_timeline(
    MPI_Comm comm, const std::vector<std::string>& names) {
  const auto check = [](int code) { detail::check(code, "gather_timeline"); };
#ifdef DIMESH_CHECKED
  detail::meet_over(comm, "gather_timeline");
#endif
  const detail::waiting here("gather_timeline");
  int rank = 0, size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  const auto mine =
      detail::pack_spans(timeline::instance().spans(), detail::clock_offset(comm, timeline::now));
  const auto count = static_cast<int>(mine.size());
  const auto ranks = static_cast<std::size_t>(rank == 0 ? size : 0);
  std::vector<int> counts(ranks), at(ranks + 1);
  check(PMPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm));
  for (std::size_t r = 0; r < ranks; ++r) at[r + 1] = at[r] + counts[r];
  std::vector<detail::packed_span> all(static_cast<std::size_t>(at.back()));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(PMPI_Type_contiguous(sizeof(detail::packed_span), MPI_BYTE, &type));
  check(PMPI_Type_commit(&type));
  check(
      PMPI_Gatherv(mine.data(), count, type, all.data(), counts.data(), at.data(), type, 0, comm));
  PMPI_Type_free(&type);

  std::vector<rank_span> spans;
  double start = std::numeric_limits<double>::infinity();
  for (const auto& p : all) start = std::min(start, p.begin);
  for (std::size_t r = 0; r < ranks; ++r)
    for (auto i = static_cast<std::size_t>(at[r]); i < static_cast<std::size_t>(at[r + 1]); ++i)
      spans.push_back({static_cast<int>(r), all[i].name.data(), static_cast<lane>(all[i].where),
                       detail::axes_text(all[i].axes, names), all[i].bytes, all[i].begin - start,
                       all[i].end - start});
  // Of two that begin together, the longer one first: it holds the other. Places break ties, not
  // std::stable_sort: libstdc++'s uses what is deprecated, and clang warns of it in users' files.
  std::vector<std::size_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&spans](std::size_t i, std::size_t j) {
    const rank_span &a = spans[i], &b = spans[j];
    if (a.rank != b.rank) return a.rank < b.rank;
    if (a.begin != b.begin) return a.begin < b.begin;
    return a.end != b.end ? a.end > b.end : i < j;
  });
  std::vector<rank_span> sorted;
  for (const std::size_t i : order) sorted.push_back(std::move(spans[i]));
  return sorted;
}

/// The same over the ranks of a grid, axes by their names.
template <Mesh M> std::vector<rank_span> gather_timeline(const grid<M>& g) {
  return gather_timeline(g.everyone().handle(), detail::names_of(typename M::axes{}));
}

/// The text of a trace file: an event for each span (times in microseconds), and names for ranks
/// and lanes.
DIMESH_OUTLINE inline std::string trace_json(const std::vector<rank_span>& spans) {
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  int named = -1;
  for (const rank_span& s : spans) {
    if (s.rank != named) out += detail::trace_names(named = s.rank);
    out += detail::trace_event(s);
  }
  if (!spans.empty()) out.erase(out.size() - 2, 1);  // JSON wants no comma before the end
  return out + "]}\n";
}

/// Writes trace_json to a file. Throws dimesh::error if that fails.
DIMESH_OUTLINE inline void write_trace(const std::string& path,
                                       const std::vector<rank_span>& spans) {
  std::ofstream out(path);
  if (!(out << trace_json(spans) << std::flush))
    throw error("write_trace: '" + path + "' cannot be written");
}

}  // namespace dimesh
