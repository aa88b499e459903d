#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs what is missing, builds with g++ and, many of the tests that send messages, with clang, and runs
# every test with Open MPI, then those of kernels, memory and movers with MPICH under the address and
# undefined-behaviour sanitizers. The last line says how many passed and failed.
#
#   scripts/test.sh [--quick] [--all] [--openmp] [--closed] [--filter REGEX] [--minutes N]
#
#   --quick          the Open MPI build only
#   --all            g++ compiles everything, relayout goes between all pairs of layouts; and also everything
#                    under the sanitizers on every number of ranks, MPICH alone with clang, closed pages
#                    and OpenMP, as below
#   --openmp         also with a Kokkos that runs on OpenMP, two threads a rank, which it builds first
#   --closed         instead with tensors' pages closed to all but kernels, copies and MPI
#   --filter REGEX   only tests whose name matches (unit/layout, mpi/all_reduce/4, docs/snippets ...), and
#                    only the programs that they run are built
#   --minutes N      begins no further part after so many minutes, and says which it left out
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

quick=false
all=false
openmp=false
closed=false
filter=
minutes=
while [[ $# -gt 0 ]]; do
  case $1 in
    --quick) quick=true ;;
    --all) all=true && openmp=true ;;
    --openmp) openmp=true ;;
    --closed) closed=true ;;
    --filter) filter=${2:?--filter needs a regular expression} && shift ;;
    --minutes) minutes=${2:?--minutes needs a number} && shift ;;
    -h | --help) sed -n '3,18s/^# \{0,1\}//p' scripts/test.sh && exit 0 ;;
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

# programs_of PRESET CTEST_ARGUMENTS...: what the build makes of that which these tests run, one a line;
# fails if there is no such test. (CTest itself names no program that is not built yet.)
programs_of() {
  local build=$PWD/build/$1
  shift
  ctest --test-dir "$build" --show-only=json-v1 -R "$filter" "$@" |
    python3 -c '
import json, os, pathlib, re, subprocess, sys
build = sys.argv[1]
names = {test["name"] for test in json.load(sys.stdin)["tests"]}
made = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], capture_output=True, text=True)
made = {line.split(":")[0] for line in made.stdout.splitlines()}
words = set()
for file in pathlib.Path(build).rglob("CTestTestfile.cmake"):
    for name, command in re.findall(r"^add_test\((?:\[=\[)?([^\s\]]+)(?:\]=\])? (.*)\)$", file.read_text(), re.M):
        if name in names:
            words |= set(re.findall(r"\"([^\"]*)\"", command))
print("\n".join(sorted(p for w in words if os.path.isabs(w) and (p := os.path.relpath(w, build)) in made)))
sys.exit(not names)' "$build"
}

# run_part PRESET TARGETS CTEST_ARGUMENTS...: configures, with what is in options, builds the targets, runs
# the tests.
options=()
run_part() {
  local preset=$1 targets=$2
  shift 2
  if [[ -n $minutes ]] && ((SECONDS > 60 * minutes)); then
    echo "== $preset: left out, since $((SECONDS / 60)) minutes have passed"
    return
  fi
  echo "== $preset: configure and build ($(date +%T))"
  if ! cmake --preset "$preset" "${options[@]}" > "build/$preset.configure.log" 2>&1; then
    cat "build/$preset.configure.log"
    fail "$preset: configure"
    return
  fi
  if [[ -n $filter ]]; then
    targets=$(programs_of "$preset" "$@") || return 0
  fi
  if [[ -n $targets ]]; then
    # shellcheck disable=SC2086
    cmake --build --preset "$preset" --target $targets -j "$(jobs_that_fit)" -- -k 0 ||
      fail "$preset: build"
  fi
  echo "== $preset: test ($(date +%T))"
  local log=build/$preset/ctest.log line skipped
  # One more than cores: a tenth of the time programs wait, for a rank that has ended or a signal.
  ctest --test-dir "build/$preset" -j "$(($(cores) + 1))" --output-on-failure --no-tests=ignore \
    -R "${filter:-.}" "$@" 2>&1 | tee "$log" || true
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
  # All that tests need has been installed, so nothing has a reason to be left out. CTest lists what it
  # skipped like a failure, and counts it as passed.
  skipped=$(grep -c '^ *[0-9]*/[0-9]* Test .*\*\*\*Skipped' "$log" || true)
  passed=$((passed - skipped))
  failed=$((failed + skipped))
}

install_missing "${packages_build[@]}" "${packages_demo[@]}" "${packages_test[@]}"
set_run_environment
mkdir -p build
# Open MPI's launchers share a folder, and the last one removes it while the next makes its own in it.
kept=${TMPDIR:-${TEMP:-${TMP:-/tmp}}}/ompi.${HOSTNAME%%.*}.$(id -u)/kept
mkdir -p "$kept"
trap 'rmdir "$kept" 2> /dev/null || true' EXIT

# What a mistake or its twin needs, it includes itself: batches have all headers.
[[ $all == true ]] && export DIMESH_COMPILE_FAIL_ALONE=1
if [[ $closed == true ]]; then
  run_part closed "tests_sanitize_all" -L '^sanitize_all$'
else
  # With --all, or by name, also what CI has no time for.
  most=(-LE '^exhaustive$')
  [[ $all == true || -n $filter ]] && most=()
  [[ $all == true ]] && options=(-DDIMESH_TEST_CLANG=OFF)  # g++ compiles everything
  [[ $all == true ]] && export DIMESH_ALL_PAIRS=1  # of layouts: docs/relayout.md
  run_part default "all" "${most[@]}"
  unset DIMESH_ALL_PAIRS
  options=()
fi
# More ranks than cores are slow with MPICH, and the type layer knows no MPI: up to two ranks.
many='/([3-9]|[1-9][0-9]+)$'
if [[ $all == true ]]; then
  run_part mpich "tests_mpich" -L mpich -E "$many"
  run_part sanitize_openmpi "tests_sanitize_all" -L '^sanitize_all$'
  if [[ $closed == false ]]; then
    run_part closed "tests_sanitize_all" -L '^sanitize_all$'
  fi
elif [[ $quick == false && $closed == false ]]; then
  run_part sanitize "tests_sanitize" -L '^sanitize$' -E "$many"
fi
if [[ $openmp == true ]]; then
  scripts/kokkos_openmp.sh
  run_part openmp "tests_sanitize_all" -L '^sanitize_all$'
fi

echo
if [[ ${#failures[@]} -gt 0 ]]; then
  printf 'failed: %s\n' "${failures[@]}"
fi
if [[ $((passed + failed)) == 0 ]]; then
  echo "no test matches '$filter'"
  exit 1
fi
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
