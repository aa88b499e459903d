#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs what is missing, builds, and runs every test: with Open MPI, with MPICH, and with the
# address and undefined-behaviour sanitizers. The last line says how many passed and failed.
#
#   scripts/test.sh [--quick] [--filter REGEX]
#
#   --quick          the Open MPI build only
#   --filter REGEX   only tests whose name matches (unit/layout, mpi/all_reduce/4, docs/snippets ...)
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

quick=false
filter=.
while [[ $# -gt 0 ]]; do
  case $1 in
    --quick) quick=true ;;
    --filter) filter=${2:?--filter needs a regular expression} && shift ;;
    -h | --help) sed -n '3,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
    *) echo "test.sh: unknown option $1; see --help" >&2 && exit 2 ;;
  esac
  shift
done

passed=0
failed=0
failures=()

fail() {
  failed=$((failed + 1))
  failures+=("$1")
}

# run_part PRESET TARGETS CTEST_ARGUMENTS...: configures, builds the targets, runs the tests.
run_part() {
  local preset=$1 targets=$2
  shift 2
  echo "== $preset: configure and build ($(date +%T))"
  if ! cmake --preset "$preset" > "build/$preset.configure.log" 2>&1; then
    cat "build/$preset.configure.log"
    fail "$preset: configure"
    return
  fi
  # shellcheck disable=SC2086
  cmake --build --preset "$preset" --target $targets -j "$(jobs_that_fit)" -- -k 0 ||
    fail "$preset: build"
  echo "== $preset: test ($(date +%T))"
  local log=build/$preset/ctest.log line
  ctest --test-dir "build/$preset" -j "$(cores)" --output-on-failure --no-tests=ignore \
    -R "$filter" "$@" 2>&1 | tee "$log" || true
  line=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+' "$log" || true)
  if [[ $line =~ ,\ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]; then
    failed=$((failed + BASH_REMATCH[1]))
    passed=$((passed + BASH_REMATCH[2] - BASH_REMATCH[1]))
    while IFS= read -r line; do
      failures+=("$preset: $line")
    done < <(sed -n 's/^\t *[0-9]* - \(.*\)$/\1/p' "$log")
  elif ! grep -q 'No tests were found' "$log"; then
    fail "$preset: ctest"
  fi
}

install_missing "${packages_build[@]}" "${packages_demo[@]}" "${packages_test[@]}"
set_run_environment
mkdir -p build

run_part default "all dimesh_headers"
if [[ $quick == false ]]; then
  # More ranks than cores are slow with MPICH, and the type layer knows no MPI: up to two ranks.
  run_part mpich "tests_mpich" -L mpich -E '/([3-9]|[1-9][0-9]+)$'
  run_part sanitize "tests_sanitize" -L sanitize
fi

echo
if [[ ${#failures[@]} -gt 0 ]]; then
  printf 'failed: %s\n' "${failures[@]}"
fi
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
