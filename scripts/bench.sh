#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the benchmarks and runs them, each beside its hand-written twin.
#
#   scripts/bench.sh [NAME]... [-- ARGUMENTS...]
#
#   NAME   a name from benchmarks/ (all of them), or `compile`: what the compiler pays
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

names=()
compile=
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) sed -n '3,7s/^# \{0,1\}//p' scripts/bench.sh && exit 0 ;;
    --) shift && break ;;
    compile) compile=yes ;;
    *) names+=("$1") ;;
  esac
  shift
done
install_missing "${packages_build[@]}" "${packages_demo[@]}" "${packages_bench[@]}"
set_run_environment
help_openblas
build=build/bench
mkdir -p "$build"
log=$build/build.log
cmake -S . -B "$build" -G Ninja -DDIMESH_TESTS=OFF -DDIMESH_EXAMPLES=OFF > "$log" 2>&1 ||
  { cat "$log" && exit 1; }
if [[ ${#names[@]} == 0 && -z $compile ]]; then  # all that this machine's libraries let be built
  mapfile -t names < <(cmake --build "$build" --target help | sed -nE 's/^bench\.([a-z_]+): phony$/\1/p' | sort)
fi
[[ ${#names[@]} == 0 ]] ||
  cmake --build "$build" --target "${names[@]/#/bench.}" -j "$(jobs_that_fit)" > "$log" 2>&1 ||
  { cat "$log" && exit 1; }

echo "machine:  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(cores) cores"
echo "system:   $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release), $(uname -r)"
echo "compiler: $("$(cache_value "$build" CMAKE_CXX_COMPILER)" --version | head -n 1)"
mpirun=$(cache_value "$build" MPIEXEC_EXECUTABLE)
echo "OpenBLAS: kernels for $(openblas_core)"
echo "MPI:      $("$mpirun" --version 2> /dev/null | head -n 1)"
echo "version:  $(git describe --always --dirty 2> /dev/null || echo unknown), $(date -u +%F)"
for name in "${names[@]}"; do
  ranks=$(setting "benchmarks/$name.cpp" ranks 1)
  for n in $ranks; do
    command=("$build/benchmarks/$name" "$@")
    if [[ $n != 1 ]]; then
      command=("$mpirun" -n "$n" "${command[@]}")
    fi
    echo
    echo "\$ ${command[*]}"
    "${command[@]}"
  done
done
if [[ -n $compile ]]; then
  echo
  python3 benchmarks/compile/measure.py --build "$build" "$@"
fi
