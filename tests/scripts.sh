#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What do this project's scripts and its configuration say where something is missing or mistyped?
#
#   scripts.sh KIND BUILD_DIR MPICXX
#
#   filter      scripts/test.sh --filter: of a pattern that no test has it says so, and fails
#   format      scripts/check_format.sh without clang-format 19: skipped, with a word
#   configure   which versions of oneDNN are used; products without any library and without -march
set -euo pipefail

kind=$1 build=$2 mpicxx=$3
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$build/tests/scripts/$kind
rm -rf "$work"
mkdir -p "$work"

# stub NAME: a program of this name in $work/bin, whose script is read from the standard input.
stub() {
  mkdir -p "$work/bin"
  { echo "#!/usr/bin/env bash" && cat; } > "$work/bin/$1"
  chmod +x "$work/bin/$1"
}

# ends STATUS TEXT COMMAND...: the command ends with this status and prints a line of this text.
ends() {
  local wanted=$1 text=$2 status=0
  shift 2
  "$@" > "$work/log" 2>&1 || status=$?
  if [[ $status != "$wanted" ]] || ! grep -qxF -e "$text" "$work/log"; then
    cat "$work/log"
    echo "scripts.sh: expected status $wanted and '$text', found status $status: $*"
    exit 1
  fi
}

case $kind in
  filter)
    mkdir -p "$work/scripts"
    cp "$root"/scripts/{test,common}.sh "$work/scripts"
    stub dpkg-query <<< 'echo installed'
    # shellcheck disable=SC2016
    stub cmake <<< '[[ $1 != --preset ]] || mkdir -p "build/$2"'
    stub ninja <<< 'exit 0'
    stub ctest << 'END'
if [[ " $* " == *" --show-only=json-v1 "* ]]; then
  [[ " $* " == *" -R unit/one "* ]] && echo '{"tests": [{"name": "unit/one"}]}' || echo '{"tests": []}'
else
  echo "100% tests passed, 0 tests failed out of 1"
fi
END
    PATH=$work/bin:$PATH
    ends 0 "1 passed, 0 failed" "$work/scripts/test.sh" --quick --filter unit/one
    ends 1 "no test matches 'unit/noe'" "$work/scripts/test.sh" --quick --filter unit/noe
    ;;
  format)
    mkdir -p "$work/bin"
    ln -s "$(command -v dirname)" "$work/bin"
    ends 77 "check_format: clang-format 19 is not installed; the format was not checked" \
      env PATH="$work/bin" "$BASH" "$root/scripts/check_format.sh"
    stub clang-format <<< 'echo "clang-format version 14.0.6"'
    ln -s "$(command -v env)" "$(command -v grep)" "$BASH" "$work/bin"
    ends 77 "check_format: clang-format 19 is not installed; the format was not checked" \
      env PATH="$work/bin" "$BASH" "$root/scripts/check_format.sh"
    ;;
  configure)
    # configured TEXT OPTIONS...: what configuring the library says, beside what it says in any case.
    configured() {
      local text=$1
      shift
      ends 0 "-- $text" cmake -S "$root" -B "$work/build" -G Ninja -DDIMESH_TESTS=OFF \
        -DDIMESH_EXAMPLES=OFF -DDIMESH_BENCHMARKS=OFF -DMPI_CXX_COMPILER="$mpicxx" \
        -DKokkos_DIR="$(sed -n 's/^Kokkos_DIR:[^=]*=//p' "$build/CMakeCache.txt")" \
        -DDIMESH_WITH_FFTW=OFF -DDIMESH_WITH_CBLAS=OFF -DCMAKE_CXX_FLAGS= "$@"
    }
    version=$(sed -n 's/^  VERSION //p' "$root/CMakeLists.txt")
    slow="dimesh: neither oneDNN nor a CBLAS is used, and no -march is set: products will take three to \
four times as long as with -march=native"
    touch "$work/libdnnl.so"
    for number in 2.4 2.5 3.1 4.0; do
      headers=$work/dnnl-$number
      mkdir -p "$headers/oneapi/dnnl"
      printf '#define DNNL_VERSION_MAJOR %d\n#define DNNL_VERSION_MINOR %d\n#define DNNL_VERSION_PATCH 7\n' \
        "${number%.*}" "${number#*.}" > "$headers/oneapi/dnnl/dnnl_version.h"
      options=("-DDIMESH_ONEDNN_INCLUDE_DIR=$headers" "-DDIMESH_ONEDNN_LIBRARY=$work/libdnnl.so")
      case $number in
        2.4 | 4.0)
          configured "dimesh: oneDNN $number.7 is not supported (2.5 to 3.x are); it is not used" \
            "${options[@]}"
          ;;
        *) configured "dimesh $version: oneDNN TRUE, CBLAS FALSE, FFTW FALSE" "${options[@]}" ;;
      esac
    done
    configured "$slow" -DDIMESH_WITH_ONEDNN=OFF
    configured "dimesh $version: oneDNN FALSE, CBLAS FALSE, FFTW FALSE" -DDIMESH_WITH_ONEDNN=OFF \
      -DCMAKE_CXX_FLAGS=-march=native
    if grep -qF "no -march is set" "$work/log"; then
      echo "scripts.sh: -march is set, and configuring says that it is not"
      exit 1
    fi
    ;;
  *)
    echo "scripts.sh: unknown kind $kind" >&2
    exit 2
    ;;
esac
