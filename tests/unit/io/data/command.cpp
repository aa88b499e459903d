// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/io/data/command.hpp"

#include <doctest/doctest.h>

#include "support/scratch.hpp"

namespace {
namespace in = dimesh::input;
using test_support::thrown;

TEST_CASE("output_of: all that a command writes, as it is") {
  const auto got = in::output_of("printf 'a\\0b\\n'; printf c");
  CHECK(got.bytes() == std::string("a\0b\nc", 5));
  CHECK(got.path() == "printf 'a\\0b\\n'; printf c");
  CHECK(in::output_of("true").bytes().empty());
  CHECK(in::output_of("cat").bytes().empty());  // nothing is typed
  CHECK(in::output_of("seq 100000").bytes().size() == 588895);
}

TEST_CASE("output_of: a command that fails, with what it said") {
  CHECK(
      thrown([] { in::output_of("echo no such thing >&2; echo more; exit 3"); }) ==
      "input: 'echo no such thing >&2; echo more; exit 3': failed (exit status 3): no such thing");
  CHECK(thrown([] {
          in::output_of("kill -9 $$");
        }).starts_with("input: 'kill -9 $$': failed (exit status 137)"));
  CHECK(thrown([] {
          in::output_of("/no/such/tool -x");
        }).starts_with("input: '/no/such/tool -x': failed (exit status 127)"));
}

}  // namespace
