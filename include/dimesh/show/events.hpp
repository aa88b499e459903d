// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one read what a program does, call by call? As a table, or as lines of JSON for other
// tools, axes by their names.
//
//   std::cout << events_table(events_of(step{}, shapes...));
//     phase     operation       of      kind        axes  flops  moved  sent  ring  memory  live
//     forward   einsum                  compute           65536   4608
//     backward  reduce_scatter  einsum  reduce_scatter  cols              1024   512
//   event_lines(log)   -> {"what":"einsum","kind":"compute",...} on each line
#pragma once

#include "dimesh/ledger/event_log.hpp"
#include "dimesh/show/trace.hpp"

namespace dimesh {

namespace detail {

/// The names of the axes that an event means; none of a mesh that is not known.
template <Mesh M>
const std::vector<std::string>& axes_for(const event_log<M>& log, const event& e,
                                         const std::vector<std::string>& own) {
  static const std::vector<std::string> unknown;
  if (event_log<M>::is_here(e)) return own;
  const mesh_note* const o = log.other_mesh(e);
  return o == nullptr ? unknown : o->axes;
}

/// The cells of one event, as text; zeros are left empty.
inline std::array<std::string, 11> cells_of(const event& e, const std::vector<std::string>& names) {
  const auto number = [](index_t n) { return n == 0 ? std::string() : std::to_string(n); };
  return {std::string(e.phase),
          std::string(e.what),
          std::string(e.transpose_of),
          std::string(name_of(e.kind)),
          axes_text(e.axes, names),
          number(e.flops),
          number(e.moved),
          number(e.bytes),
          number(e.ring_bytes),
          number(e.memory),
          e.memory == 0 ? std::string() : std::to_string(e.live)};
}

inline std::string event_line(const event& e, const std::vector<std::string>& names) {
  std::string out = "{\"what\":" + json_text(std::string(e.what)) + ",\"kind\":\"" +
                    std::string(name_of(e.kind)) + "\"";
  const auto text = [&out](const char* name, const std::string& s) {
    if (!s.empty()) out += std::string(",\"") + name + "\":" + json_text(s);
  };
  const auto number = [&out](const char* name, index_t n) {
    if (n != 0) out += std::string(",\"") + name + "\":" + std::to_string(n);
  };
  text("phase", std::string(e.phase));
  text("transpose_of", std::string(e.transpose_of));
  text("axes", axes_text(e.axes, names));
  number("flops", e.flops);
  number("moved", e.moved);
  number("bytes", e.bytes);
  number("ring_bytes", e.ring_bytes);
  number("memory", e.memory);
  if (e.memory != 0) out += ",\"live\":" + std::to_string(e.live);
  if (e.end > 0) {
    char times[80];
    std::snprintf(times, sizeof times, ",\"begin\":%.9f,\"end\":%.9f", e.begin, e.end);
    out += times;
  }
  return out + "}\n";
}

}  // namespace detail

/// One line an event, columns aligned, numbers to the right.
template <Mesh M> std::string events_table(const event_log<M>& log) {
  const auto names = detail::names_of(typename M::axes{});
  std::vector<std::array<std::string, 11>> rows{{"phase", "operation", "of", "kind", "axes",
                                                 "flops", "moved", "sent", "ring", "memory",
                                                 "live"}};
  for (const event& e : log.events)
    rows.push_back(detail::cells_of(e, detail::axes_for(log, e, names)));
  std::array<std::size_t, 11> width{};
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string gap(width[c] - row[c].size(), ' ');
      line += (c == 0 ? "" : "  ") + (c < 5 ? row[c] + gap : gap + row[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

/// One JSON object a line (JSON Lines); what is zero or empty is left out.
template <Mesh M> std::string event_lines(const event_log<M>& log) {
  const auto names = detail::names_of(typename M::axes{});
  std::string out;
  for (const event& e : log.events) out += detail::event_line(e, detail::axes_for(log, e, names));
  return out;
}

namespace detail {
template <Mesh M> mesh_sizes<M> sizes_on(const grid<M>& g) {
  mesh_sizes<M> s;
  for (std::size_t a = 0; a < s.size.size(); ++a) s.size[a] = g.state().sizes()[a];
  return s;
}
}  // namespace detail

/// What was watched on a grid, with the mesh whose axes it names; and those of other grids.
template <Mesh M, Mesh... More>
event_log<M> events_on(const grid<M>& g, std::vector<event> events, const grid<More>&... more) {
  return {detail::sizes_on(g), std::move(events), {mesh_note::of(detail::sizes_on(more))...}};
}

}  // namespace dimesh
