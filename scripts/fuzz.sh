#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Random operations against plain loops (tests/mpi/differential.cpp), by seed, at every optimisation
# level, with and without -march=native, by g++ and clang++. Takes as long as it is let.
#
#   scripts/fuzz.sh --seeds "1 2 3" --count 60
#   scripts/fuzz.sh --seeds 7 --levels "-O3" --tunings "-march=native" --compilers g++ --ranks "1 4"
#   scripts/fuzz.sh --pieces      every kernel in pieces that run last to first
#
# Needs the build folder build/default (cmake --preset default), for flags and libraries.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

seeds="1 2 3 4" count=60 ranks="1 2 4" levels="-O0 -O1 -O2 -O3" tunings="plain -march=native"
compilers="g++ clang++-19" extra=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --seeds) seeds=$2; shift 2 ;;
    --count) count=$2; shift 2 ;;
    --ranks) ranks=$2; shift 2 ;;
    --levels) levels=$2; shift 2 ;;
    --tunings) tunings=$2; shift 2 ;;
    --compilers) compilers=$2; shift 2 ;;
    --pieces) extra=(-DDIMESH_TEST_REVERSED -include support/shuffled.hpp); shift ;;
    *) echo "fuzz.sh: unknown option $1" >&2; exit 2 ;;
  esac
done

set_run_environment
folder=build/default
flags=("@$folder/tests/compile_fail/flags.txt" -std=c++20 -w -Itests -Isupport/census)
# Not the compiled part of our own: headers alone are tried.
libraries=$(ninja -C "$folder" -t commands test.mpi.differential | tail -n 1 |
  sed 's/.* -o [^ ]* *//; s/ && :$//; s/ [^ /][^ ]*\.a / /g')
out=build/fuzz
mkdir -p "$out"

parts="tests/support/mpi_main.cpp tests/support/oracle.cpp tests/support/oracle_of_ranks.cpp
  support/census/census.cpp"
# compile_parts COMPILER: what all programs share.
compile_parts() {
  local part
  for part in $parts; do
    "$1" "${flags[@]}" -O1 -ffp-contract=off -c "$part" -o "$out/$$-$(basename "$part")-$1.o"
  done
}

# Files bear the number of this process: several may run side by side.
# try COMPILER SEED LEVEL TUNING: one program, on all numbers of ranks; says how it went.
try() {
  local name="$$-$1-$2$3${4/plain/}" tuning=() n status result
  [[ $4 != plain ]] && tuning=("$4")
  if ! "$1" "${flags[@]}" "-I$out/$$-$2" "$3" "${tuning[@]}" "${extra[@]}" tests/mpi/differential.cpp \
    -c -o "$out/$name.o" 2> "$out/$name.log"; then
    echo "${name#*-}: does not compile; see $out/$name.log"
    return 1
  fi
  # shellcheck disable=SC2086  # a list of libraries
  "$1" "$out/$name.o" "$out/$$-"*".cpp-$1.o" $libraries -o "$out/$name"
  result="${name#*-}:"
  status=0
  for n in $ranks; do
    mpirun -n "$n" "$out/$name" > "$out/$name.$n.log" 2>&1 || status=1
    result+=" $(sed -n 's/.*assertions: *//p' "$out/$name.$n.log" | head -n 1 | tr -s ' |' ' ')on $n;"
  done
  echo "$result"
  rm -f "$out/$name" "$out/$name.o"
  return $status
}

bad=0
for compiler in $compilers; do compile_parts "$compiler"; done
for seed in $seeds; do
  python3 tests/support/make_differential.py --seed "$seed" --count "$count" \
    --out "$out/$$-$seed/differential_cases.hpp"
  for compiler in $compilers; do
    for level in $levels; do
      for tuning in $tunings; do
        try "$compiler" "$seed" "$level" "$tuning" || bad=$((bad + 1))
      done
    done
  done
done
echo "$bad programs failed"
[[ $bad == 0 ]]
