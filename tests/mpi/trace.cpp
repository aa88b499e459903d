// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// labels: device
// Do the spans of all ranks reach the file, calls with their bytes and axes, phases rightly nested?
#include <dimesh/show/trace.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <census.hpp>
#include <dimesh/create.hpp>
#include <dimesh/grad/value_and_grad.hpp>
#include <dimesh/op/arithmetic.hpp>
#include <dimesh/op/complete.hpp>
#include <dimesh/op/reduce.hpp>
#include <dimesh/op/value.hpp>
#include <filesystem>
#include <thread>

#include <unistd.h>

namespace {

namespace dm = dimesh;
using nlohmann::json;

struct rows : dm::axis<1> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};
struct thing : dm::dim<> {};

/// Two steps as a training program has them, of which all ranks record every call.
std::vector<dm::rank_span> recorded(const dm::grid<pod>& g) {
  dm::timeline& t = dm::timeline::instance();
  std::vector<float> x(16);
  t.start();
  for (int step = 0; step < 2; ++step) {
    const dm::trace_span whole("step");
    {
      const dm::trace_span here("forward");
      MPI_Allreduce(MPI_IN_PLACE, x.data(), 16, MPI_FLOAT, MPI_SUM, g.along<cols>());
    }
    const dm::trace_span here("backward");
    MPI_Request request;
    MPI_Ibcast(x.data(), 8, MPI_FLOAT, 0, g.everyone().handle(), &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  t.stop();
  MPI_Barrier(MPI_COMM_WORLD);  // not recorded
  return dm::gather_timeline(g);
}

/// The events of one rank and lane, in time's order.
std::vector<json> events(const json& trace, int rank, int lane) {
  std::vector<json> found;
  for (const auto& e : trace["traceEvents"])
    if (e["ph"] == "X" && e["pid"] == rank && e["tid"] == lane) found.push_back(e);
  return found;
}

/// Any two events of a lane lie one after the other or one in the other.
bool nested(const std::vector<json>& all) {
  constexpr double digit = 0.0015;  // microseconds: what printing may lose
  for (const auto& a : all)
    for (const auto& b : all) {
      const double from = a["ts"], to = from + a["dur"].get<double>();
      const double start = b["ts"], end = start + b["dur"].get<double>();
      const bool apart = end <= from + digit || to <= start + digit;
      const bool inside = (start >= from - digit && end <= to + digit) ||
                          (from >= start - digit && to <= end + digit);
      if (!apart && !inside) return false;
    }
  return true;
}

}  // namespace

TEST_CASE("trace: all ranks' phases and calls are in the file") {
  const dm::grid<pod> g;
  const auto spans = recorded(g);
  if (g.rank() != 0) {
    CHECK(spans.empty());
    return;
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / ("dimesh_trace_" + std::to_string(getpid())))
          .string();
  dm::write_trace(path, spans);
  const json trace = json::parse(std::ifstream(path));
  std::filesystem::remove(path);
  double first = 1e9;
  for (int r = 0; r < g.ranks(); ++r) {
    const auto phases = events(trace, r, 0), calls = events(trace, r, 1);
    REQUIRE(phases.size() == 6);
    REQUIRE(calls.size() == 6);
    CHECK(nested(phases));
    CHECK(nested(calls));
    CHECK(phases[0]["name"] == "step");
    CHECK(phases[1]["name"] == "forward");
    CHECK(phases[2]["name"] == "backward");
    CHECK(calls[0]["name"] == "all_reduce");
    CHECK(calls[0]["args"]["bytes"] == 64);
    CHECK(calls[0]["args"]["axes"] == "cols");
    CHECK(calls[1]["name"] == "broadcast");
    CHECK(calls[1]["args"]["bytes"] == (r == 0 ? 32 : 0));
    CHECK(calls[1]["args"]["axes"] == "rows+cols");
    CHECK(calls[2]["name"] == "wait");
    CHECK(nested({phases[1], calls[0]}));
    first = std::min(first, phases[0]["ts"].get<double>());
  }
  CHECK(first == 0);
  std::size_t names = 0;
  for (const auto& e : trace["traceEvents"]) names += e["name"] == "process_name" ? 1 : 0;
  CHECK(names == static_cast<std::size_t>(g.ranks()));
}

TEST_CASE("trace: value_and_grad shows its two ways") {
  const dm::grid<pod> g;
  const auto loss = [](const auto& w) { return dm::complete(dm::sum<thing>(w * w)); };
  const auto w = dm::constant<dm::tensor<float, dm::layout<pod, dm::split<thing, cols>>, thing>>(
      g, 2.0f, thing{6 * g.ranks()});
  dm::timeline::instance().start();
  const auto both = dm::value_and_grad(loss, w)();
  dm::timeline::instance().stop();
  CHECK(dm::value(both.value) == 24 * g.ranks());
  const auto spans = dm::timeline::instance().spans();
  std::string names;
  for (const auto& s : spans) names += std::string(s.name) + " ";
  CHECK(names == (g.ranks() > 1 ? "all_reduce forward backward " : "forward backward "));
}

TEST_CASE("trace: gathering is neither counted nor recorded; what is paused is not recorded") {
  const dm::grid<pod> g;
  census::reset();
  dm::timeline::instance().start();
  {
    const census::pause quiet;
    MPI_Barrier(g.everyone().handle());
  }
  const auto spans = dm::gather_timeline(g);
  dm::timeline::instance().stop();
  CHECK(census::snapshot().calls() == 0);
  CHECK(dm::timeline::instance().spans().empty());
  CHECK(spans.empty());
}

TEST_CASE("trace: no spans, odd names, unknown axes, a file that cannot be") {
  CHECK(json::parse(dm::trace_json({}))["traceEvents"].empty());
  const std::string odd = "a\"b\\c\n\x01";
  const json one = json::parse(
      dm::trace_json({{2, odd, dm::lane::communication, odd, std::int64_t{1} << 40, 1, 2}}));
  CHECK(one["traceEvents"].back()["name"] == odd);
  CHECK(one["traceEvents"].back()["args"]["axes"] == odd);
  CHECK(one["traceEvents"].back()["args"]["bytes"] == std::int64_t{1} << 40);
  CHECK(one["traceEvents"].back()["dur"] == 1e6);
  CHECK(dm::detail::axes_text(0b1101, {"x", "y", "z"}) == "x+z+axis 3");
  CHECK(dm::detail::axes_text(0, {"x"}).empty());
  CHECK_THROWS_WITH_AS(dm::write_trace("/no/such/folder/t.json", {}),
                       "write_trace: '/no/such/folder/t.json' cannot be written", dm::error);
}

TEST_CASE("trace: clocks that differ are aligned, those of one machine left alone") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(dm::detail::clock_offset(MPI_COMM_WORLD, dm::timeline::now) == 0);
  const auto odd = [rank] { return dm::timeline::now() + 100.0 * rank; };
  CHECK(std::abs(dm::detail::clock_offset(MPI_COMM_WORLD, odd) + 100.0 * rank) < 0.05);
}
