// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/show/events.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace dimesh;
namespace {

struct rows : axis<2> {};
struct cols : axis<4> {};
struct pod : mesh<rows, cols> {};

event_log<pod> log_of_three() {
  event_list list;
  {
    const running here(&list, "einsum");
    detail::tally t;
    t.sink = &list;
    t.compute(65536, 4608);
    t.hold(96);
  }
  const trace_span phase("backward");
  const auto back = running::transpose(&list, "einsum");
  const running here(&list, "reduce_scatter");
  detail::tally t;
  t.sink = &list;
  t.collective(event_kind::reduce_scatter, 0b11, 1024, 896);
  return {mesh_sizes<pod>{}, list.events};
}

TEST_CASE("events_table: a line an event, columns aligned") {
  CHECK(events_table(log_of_three()) ==
        "phase     operation       of      kind            axes       flops  moved  sent  ring  "
        "memory  live\n"
        "          einsum                  compute                    65536   4608\n"
        "          einsum                  acquire                                          "
        "        96    96\n"
        "backward  reduce_scatter  einsum  reduce_scatter  rows+cols                1024   896\n");
  CHECK(events_table(event_log<pod>{}) ==
        "phase  operation  of  kind  axes  flops  moved  sent  ring  memory  live\n");
}

TEST_CASE("event_lines: each line is an object of what is not zero") {
  std::istringstream in(event_lines(log_of_three()));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] ==
        nlohmann::json{{"what", "einsum"}, {"kind", "compute"}, {"flops", 65536}, {"moved", 4608}});
  CHECK(lines[1] ==
        nlohmann::json{{"what", "einsum"}, {"kind", "acquire"}, {"memory", 96}, {"live", 96}});
  CHECK(lines[2] == nlohmann::json{{"what", "reduce_scatter"},
                                   {"kind", "reduce_scatter"},
                                   {"phase", "backward"},
                                   {"transpose_of", "einsum"},
                                   {"axes", "rows+cols"},
                                   {"bytes", 1024},
                                   {"ring_bytes", 896}});
}

TEST_CASE("event_lines: what was watched has times") {
  event_list list;
  {
    const watch all(list);
    const detail::watched one(3, 4);
  }
  const auto line =
      nlohmann::json::parse(event_lines(event_log<pod>{mesh_sizes<pod>{}, list.events}));
  CHECK(line["end"].get<double>() >= line["begin"].get<double>());
}

}  // namespace
