#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the benchmarks and runs them, each beside its hand-written twin.
#
#   scripts/bench.sh [--mpich] [NAME]... [-- ARGUMENTS...]
#   scripts/bench.sh --openmp [-- ARGUMENTS...]
#
#   NAME       a name from benchmarks/ (all of them), or `compile`: what the compiler pays
#   --mpich    with MPICH, in a build of its own; otherwise with Open MPI
#   --openmp   the language model's step on one rank, with one thread and with two, and the ratio of their
#              times, with the Kokkos of scripts/kokkos_openmp.sh in a build of its own; bar: 1.7
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

names=()
compile=
mpich=
openmp=
build=build/bench
options=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) sed -n '3,11s/^# \{0,1\}//p' scripts/bench.sh && exit 0 ;;
    --) shift && break ;;
    compile) compile=yes ;;
    --mpich) mpich=yes && build=build/bench-mpich && options=(-DDIMESH_MPI=mpich) ;;
    --openmp) openmp=yes && build=build/bench-openmp && options=(-DKokkos_ROOT="$root/build/kokkos-openmp") ;;
    -*) echo "bench.sh: unknown option $1; see --help" >&2 && exit 2 ;;
    *) names+=("$1") ;;
  esac
  shift
done
if [[ -n $openmp && (-n $mpich || -n $compile || ${#names[@]} != 0) ]]; then
  echo "bench.sh: --openmp runs the language model, and nothing else; see --help" >&2 && exit 2
fi
[[ -z $openmp ]] || names=(language_model)
install_missing "${packages_build[@]}" "${packages_demo[@]}" "${packages_bench[@]}"
[[ -z $mpich ]] || install_missing libmpich-dev mpich
[[ -z $openmp ]] || scripts/kokkos_openmp.sh
set_run_environment
help_openblas
mkdir -p "$build"
log=$build/build.log
cmake -S . -B "$build" -G Ninja -DDIMESH_TESTS=OFF -DDIMESH_EXAMPLES=OFF "${options[@]}" > "$log" 2>&1 ||
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
echo "MPI:      $("$mpirun" --version 2> /dev/null | head -n 2 | xargs)"
echo "version:  $(git describe --always --dirty 2> /dev/null || echo unknown), $(date -u +%F)"

# with_threads N ARGUMENTS...: the language model's step on one rank; its table goes to a file, too.
with_threads() {
  echo
  echo "\$ OMP_NUM_THREADS=$1 $build/benchmarks/language_model ${*:2}"
  OMP_NUM_THREADS=$1 OMP_PROC_BIND=false "$build/benchmarks/language_model" "${@:2}" | tee "$build/threads-$1"
}
if [[ -n $openmp ]]; then
  with_threads 1 "$@"
  with_threads 2 "$@"
  echo
  paste -d '|' "$build/threads-1" "$build/threads-2" | awk -F '|' '$6 + 0 > 0 {
    ratio = $6 / $17
    printf "%s T=%d: %.1f ms with one thread, %.1f with two: %.2f >= 1.70 %s\n", $2, $3, $6, $17, ratio,
      (ratio >= 1.7 ? "PASS" : "short")
  }'
  exit
fi
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
