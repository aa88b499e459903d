#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The readers of files (tests/fuzz/readers.cpp) against libFuzzer, with the sanitizers of clang 19.
#
#   scripts/fuzz_readers.sh                          each for 20 seconds
#   scripts/fuzz_readers.sh --seconds 3600 --formats "MO PACKED"
#
# What is found stays in build/fuzz/readers-FORMAT.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

seconds=20 formats="IDX MO PACKED BPE GZIP NPY"
while [[ $# -gt 0 ]]; do
  case $1 in
    --seconds) seconds=$2; shift 2 ;;
    --formats) formats=$2; shift 2 ;;
    *) echo "fuzz_readers.sh: unknown option $1" >&2; exit 2 ;;
  esac
done

kokkos=$(dirname "$(find /usr/include /usr/local/include -name Kokkos_Complex.hpp -print -quit)")
bad=0
for format in $formats; do
  out=build/fuzz/readers-$format
  mkdir -p "$out/corpus"
  # What the formats begin with: chance alone would not get beyond their first bytes.
  case $format in
    IDX) printf '\0\0\10\2\0\0\0\2\0\0\0\3abcdef' > "$out/corpus/first" ;;
    MO) printf '\336\22\4\225\0\0\0\0\1\0\0\0\34\0\0\0\44\0\0\0\0\0\0\0\0\0\0\0' > "$out/corpus/first"
      printf '\1\0\0\0\54\0\0\0\1\0\0\0\56\0\0\0a\0b\0' >> "$out/corpus/first" ;;
    PACKED) printf 'dmpacked\1\0\0\0\0\0\0\0' > "$out/corpus/first"
      head -c 32 /dev/zero >> "$out/corpus/first" ;;
    BPE) printf 'dimesh byte pairs 1\n1\n97 98\n7\n' > "$out/corpus/first" ;;
    NPY) printf '\223NUMPY\1\0\72\0' > "$out/corpus/first"
      printf "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n" >> "$out/corpus/first" ;;
    GZIP) printf 'a text, a text, a text' | gzip -n > "$out/corpus/first" ;;
  esac
  clang++-19 -std=c++20 -Iinclude -isystem "$kokkos" -w -O1 -g "-DFUZZ_$format" -fsanitize=fuzzer,address,undefined \
    -fno-sanitize-recover=undefined tests/fuzz/readers.cpp -o "$out/reader" -lz
  if (cd "$out" && ASAN_OPTIONS=detect_leaks=0 ./reader -max_total_time="$seconds" -max_len=4096 \
    -rss_limit_mb=2048 -timeout=10 corpus) > "$out/log" 2>&1; then
    echo "$format: $(grep -o 'Done [0-9]* runs in [0-9]*' "$out/log") seconds"
  else
    echo "$format: failed; see $out/log"
    bad=$((bad + 1))
  fi
done
[[ $bad == 0 ]]
