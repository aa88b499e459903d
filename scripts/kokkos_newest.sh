#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Debian's Kokkos is of 2021. This builds another one from source, with each of the host spaces, compares
# what some eighty operations and gradients give with what they give in build/default (to the bit with
# serial, to rounding elsewhere), and runs tests with it. It takes long, and is not part of the continuous
# tests.
#
#   scripts/kokkos_newest.sh SOURCE [--release TAG] [--spaces "serial openmp threads"] [--filter REGEX]
#     [--build-only] [--compare-only]
#
#   SOURCE           a folder with Kokkos' sources, or a git URL; of a URL `--release TAG` says what
#                    is checked out (otherwise what its default branch has)
#   --spaces LIST    serial, openmp, threads: each a build of Kokkos and of the tests (all three)
#   --filter REGEX   only tests whose name matches; without it all that the preset `openmp` runs
#   --build-only     builds and installs Kokkos, and runs nothing
#   --compare-only   compares results, and runs no tests
#
# What it made lies in build/kokkos-newest and build/newest-SPACE; Kokkos is built once for SOURCE
# and TAG.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

source=
spaces="serial openmp threads"
filter=
release=
build_only=false
compare_only=false
while [[ $# -gt 0 ]]; do
  case $1 in
    --spaces) spaces=${2:?--spaces needs a list} && shift ;;
    --filter) filter=${2:?--filter needs a regular expression} && shift ;;
    --release) release=${2:?--release needs a tag} && shift ;;
    --build-only) build_only=true ;;
    --compare-only) compare_only=true ;;
    -h | --help) sed -n '3,19s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
    -*) echo "kokkos_newest.sh: unknown option $1; see --help" >&2 && exit 2 ;;
    *) source=$1 ;;
  esac
  shift
done
[[ -d $source ]] && source=$(realpath "$source")
cd "$root"
[[ -n $source ]] || { echo "kokkos_newest.sh: name a folder with Kokkos' sources, or a git URL" >&2 && exit 2; }
install_missing "${packages_build[@]}" "${packages_test[@]}"
set_run_environment
top=$root/build/kokkos-newest
mkdir -p "$top"
asked="$source $release"
if [[ ! -d $source ]]; then
  if [[ ! -e $top/cloned || $(cat "$top/cloned") != "$asked" ]]; then
    rm -rf "$top/source" "$top/cloned"  # of another address or release
    git clone --depth 1 ${release:+--branch "$release"} "$source" "$top/source"
    echo "$asked" > "$top/cloned"
  fi
  source=$top/source
elif [[ ! -e $source/CMakeLists.txt ]]; then
  echo "kokkos_newest.sh: no sources of Kokkos are in '$source'" >&2 && exit 2
fi
asked+=" $(cat "$source/CMakeLists.txt" 2> /dev/null | sha256sum || true)"  # which holds the version

# build_kokkos SPACE: installs Kokkos with that space, and Serial, into build/kokkos-newest/SPACE.
build_kokkos() {
  local space=$1 options=()
  [[ -e $top/$space/complete && $(cat "$top/$space/complete") == "$asked" ]] && return
  rm -rf "${top:?}/$space" "$top/work-$space"  # of other sources
  [[ $space == openmp ]] && options=(-DKokkos_ENABLE_OPENMP=ON)
  [[ $space == threads ]] && options=(-DKokkos_ENABLE_THREADS=ON)
  echo "== Kokkos with $space ($(date +%T))"
  {
    cmake -S "$source" -B "$top/work-$space" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_INSTALL_PREFIX="$top/$space" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=ON \
      -DCMAKE_CXX_STANDARD=20 -DCMAKE_CXX_EXTENSIONS=OFF -DKokkos_ENABLE_SERIAL=ON \
      -DKokkos_ENABLE_TESTS=OFF "${options[@]}" &&
      cmake --build "$top/work-$space" -j "$(jobs_that_fit)" && cmake --install "$top/work-$space"
  } > "$top/$space.log" 2>&1 || { tail -n 40 "$top/$space.log" && return 1; }
  rm -rf "$top/work-$space"
  echo "$asked" > "$top/$space/complete"
}

# results_of BUILD THREADS RANKS: what the program of that build prints.
results_of() {
  local mpirun
  mpirun=$(cache_value "$1" MPIEXEC_EXECUTABLE)
  OMP_NUM_THREADS=$2 KOKKOS_NUM_THREADS=$2 OMP_PROC_BIND=false \
    "$mpirun" -n "$3" "$1/tests/test.kokkos.results" > "$1/results-$3"
}
# compare_results BUILD THREADS OPTION...: holds its results against those of the default build.
compare_results() {
  local build=$1 threads=$2 n
  shift 2
  cmake --build "$build" --target test.kokkos.results -j "$(jobs_that_fit)" || return 1
  for n in 1 2; do
    results_of "$build" "$threads" "$n" || return 1
    echo "== $(basename "$build") beside the default build, $n ranks"
    tests/kokkos/compare.py "build/default/results-$n" "$build/results-$n" "$@" || return 1
  done
}

# By name each program is one file's.
grouped=ON
[[ -z $filter ]] || grouped=OFF
failed=()
if [[ $build_only == false ]]; then
  echo "== results of the default build ($(date +%T))"
  cmake --preset default > build/default.configure.log 2>&1 || { cat build/default.configure.log && exit 1; }
  cmake --build build/default --target test.kokkos.results -j "$(jobs_that_fit)"
  for n in 1 2; do results_of build/default 1 "$n"; done
fi
for space in $spaces; do
  build_kokkos "$space" || { failed+=("Kokkos with $space") && continue; }
  [[ $build_only == true ]] && continue
  build=$root/build/newest-$space
  threads=2
  [[ $space == serial ]] && threads=1
  clang=ON  # for a part of the tests; two OpenMP libraries would meet
  [[ $space == openmp ]] && clang=OFF
  echo "== $space: configure and build ($(date +%T))"
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DKokkos_ROOT="$top/$space" \
    -DDIMESH_TEST_THREADS=$threads -DDIMESH_EXAMPLES=OFF -DDIMESH_BENCHMARKS=OFF \
    -DDIMESH_GROUP_TESTS="$grouped" -DDIMESH_TEST_CLANG=$clang \
    > "$build.configure.log" 2>&1 || { cat "$build.configure.log" && failed+=("$space: configure") && continue; }
  rounding=(--rounding)
  [[ $space == serial ]] && rounding=()
  compare_results "$build" "$threads" "${rounding[@]}" || failed+=("$space: results")
  [[ $compare_only == true ]] && continue
  if [[ -n $filter ]]; then  # mpi/take/2 is run by test.mpi.take
    targets=$(ctest --test-dir "$build" -N -R "$filter" |
      sed -nE 's,^ *Test +#[0-9]+: +((unit|mpi|run_fail)/.*)$,\1,p' |
      sed -E 's,^(mpi/.*)/[0-9]+$,\1,; s,^(run_fail/[^/]*)/.*$,\1,; s,/,.,g; s,^,test.,' | sort -u)
  else
    targets=tests_sanitize_all
  fi
  # shellcheck disable=SC2086
  cmake --build "$build" --target $targets -j "$(jobs_that_fit)" -- -k 0 || failed+=("$space: build")
  labels=(-L '^sanitize_all$')
  [[ -n $filter ]] && labels=(-R "$filter")
  ctest --test-dir "$build" -j "$(cores)" --output-on-failure "${labels[@]}" || failed+=("$space: tests")
done
if [[ ${#failed[@]} -gt 0 ]]; then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi
