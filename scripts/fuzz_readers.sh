#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The readers of files (tests/fuzz/readers.cpp) against libFuzzer, with the sanitizers of clang 19.
#
#   scripts/fuzz_readers.sh                          each for 20 seconds
#   scripts/fuzz_readers.sh --seconds 3600 --formats "MO PACKED"
#   scripts/fuzz_readers.sh --jobs 2                 so many formats at a time
#
# What is found, and what led there, stays in build/fuzz/readers/FORMAT (or --out FOLDER).
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

seconds=20 formats="IDX MO PACKED BPE GZIP NPY SAFETENSORS MANIFEST INDEX GPT2" jobs=1
out=build/fuzz/readers flags=build/default/tests/compile_fail/flags.txt
while [[ $# -gt 0 ]]; do
  case $1 in
    --seconds) seconds=$2; shift 2 ;;
    --formats) formats=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --flags) flags=$2; shift 2 ;;  # a file with -I of what the headers need
    *) echo "fuzz_readers.sh: unknown option $1" >&2; exit 2 ;;
  esac
done

set_run_environment
mkdir -p "$out"
reader=$(realpath "$out")/reader
optimization=-O1
[[ $seconds -ge 5 ]] || optimization=-O0  # which takes longer to compile than a brief run gains by it
clang++-19 "@$flags" -std=c++20 -w "$optimization" -g1 -fsanitize=fuzzer,address,undefined \
  -fno-sanitize-recover=undefined tests/fuzz/readers.cpp -o "$reader" -lz -lmpi

# What the formats begin with: chance alone would not get beyond their first bytes.
# first FORMAT: the bytes of a small file.
first() {
  case $1 in
    IDX) printf '\0\0\10\2\0\0\0\2\0\0\0\3abcdef' ;;
    MO)
      printf '\336\22\4\225\0\0\0\0\1\0\0\0\34\0\0\0\44\0\0\0\0\0\0\0\0\0\0\0'
      printf '\1\0\0\0\54\0\0\0\1\0\0\0\56\0\0\0a\0b\0'
      ;;
    PACKED)
      printf 'dmpacked\1\0\0\0\0\0\0\0'
      head -c 32 /dev/zero
      ;;
    BPE) printf 'dimesh byte pairs 1\n1\n97 98\n7\n' ;;
    NPY)
      printf '\223NUMPY\1\0\72\0'
      printf "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n"
      ;;
    GZIP) printf 'a text, a text, a text' | gzip -n ;;
    SAFETENSORS)
      printf '{"__metadata__":{"a":"b"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
      ;;
    MANIFEST)
      printf '{"content":{"format":"dimesh checkpoint 1","step":3,"integers":{"a":1},"texts":{"b":"c"},'
      printf '"numbers":{"d":"0x1p+1"},"files":{"m":{"bytes":8,"crc32":7}}},"crc32":0}'
      ;;
    INDEX) printf '{"metadata":{"total_size":8},"weight_map":{"w":"model.safetensors"}}' ;;
    GPT2) printf 'a a\naa a\nb a\n' ;;
  esac
}
# The words of formats that are texts.
words() {
  printf '"%s"\n' '{' '}' '[' ']' ',' ':' '\"dtype\"' '\"shape\"' '\"data_offsets\"' '\"F32\"' \
    '\"BF16\"' '\"__metadata__\"' '\"content\"' '\"crc32\"' '\"files\"' '\"bytes\"' '\"numbers\"' \
    '\"weight_map\"' '\"step\"' '\\u0000' '../' "'descr'" "'shape'" "'fortran_order'"
}

# fuzz FORMAT
fuzz() {
  local folder=$out/$1
  mkdir -p "$folder/corpus"
  first "$1" > "$folder/corpus/first"
  words > "$folder/words"
  if (cd "$folder" && DIMESH_FUZZ_FORMAT=$1 ASAN_OPTIONS=detect_leaks=0 "$reader" \
    -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 -timeout=300 -dict=words corpus) \
    > "$folder/log" 2>&1; then
    echo "$1: $(grep -o 'Done [0-9]* runs in [0-9]*' "$folder/log") seconds"
  else
    echo "$1: failed; see $folder/log"
    return 1
  fi
}
export -f fuzz first words
export out reader seconds
# shellcheck disable=SC2016  # the shell that xargs starts fills it in
printf '%s\n' $formats | xargs -P "$jobs" -I{} bash -c 'set -euo pipefail; fuzz {}'
