#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs what is missing, builds one example, and runs it.
#
#   scripts/demo.sh [EXAMPLE] [--out DIR] [-- ARGUMENTS...]
#
#   EXAMPLE     a name from examples/ (language_model)
#   --out DIR   where the example writes its report and pictures, if it has that option (demo-out)
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

example=language_model
out=demo-out
out_given=no
while [[ $# -gt 0 ]]; do
  case $1 in
    --out) out=${2:?--out needs a directory} && out_given=yes && shift ;;
    -h | --help) sed -n '3,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
    --) shift && break ;;
    -*) echo "demo.sh: unknown option $1; see --help" >&2 && exit 2 ;;
    *) example=$1 ;;
  esac
  shift
done
out=$(realpath -m "$out")
cd "$root"

source_file=examples/$example.cpp
for candidate in "examples/$example/$example.cpp" "examples/$example/main.cpp"; do
  [[ -f $source_file ]] || source_file=$candidate
done
if [[ ! -f $source_file ]]; then
  echo "demo.sh: there is no example '$example'; there are:" >&2
  find examples -mindepth 1 -maxdepth 1 ! -name CMakeLists.txt ! -name common -printf '  %f\n' | sed 's/\.cpp$//' | sort >&2
  exit 2
fi
ranks=$(setting "$source_file" "ranks" 4)
ranks=$(setting "$source_file" "demo ranks" "${ranks##* }")
takes_out=$(setting "$source_file" "writes" no)  # `// writes: a report`: it takes --out DIR
[[ $takes_out == no ]] || takes_out=yes
if [[ $takes_out$out_given == noyes ]]; then
  echo "demo.sh: the example $example has no --out; its own arguments come after --" >&2
  exit 2
fi

install_missing "${packages_build[@]}" "${packages_demo[@]}"
set_run_environment

build=build/demo
mkdir -p "$build"
{
  cmake -S . -B "$build" -G Ninja -DDIMESH_TESTS=OFF -DDIMESH_BENCHMARKS=OFF &&
    cmake --build "$build" --target "example.$example" -j "$(jobs_that_fit)"
} > "$build/build.log" 2>&1 || { cat "$build/build.log" && exit 1; }
[[ -t 1 ]] || export DIMESH_PLAIN=1  # no lines rewritten in a file
arguments=()
if [[ $takes_out == yes ]]; then
  mkdir -p "$out"
  arguments=(--out "$out")
fi
exec "$(cache_value "$build" MPIEXEC_EXECUTABLE)" -n "$ranks" "$build/examples/$example" \
  "${arguments[@]}" "$@"
