#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Checks that the sources are formatted as .clang-format says (clang-format 19); --fix does it.
# Other versions format a little differently, so where 19 is missing this says so and ends with
# status 77: skipped, to CTest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

formatter=""
for candidate in clang-format-19 clang-format; do
  if command -v "$candidate" > /dev/null && "$candidate" --version | grep -q 'version 19\.'; then
    formatter=$candidate
    break
  fi
done
if [[ -z $formatter ]]; then
  echo "check_format: clang-format 19 is not installed; the format was not checked" >&2
  exit 77
fi

mapfile -t files < <(find include src tests examples benchmarks support -name '*.[ch]pp' | sort)
if [[ ${1:-} == --fix ]]; then
  exec "$formatter" -i "${files[@]}"
fi
# One process for all files: to start one for each takes longer than to format it.
mapfile -t bad < <("$formatter" --dry-run "${files[@]}" 2>&1 |
  sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: warning: .*clang-format.*/\1/p' | sort -u)
for file in "${bad[@]}"; do
  echo "$file: not formatted; run scripts/check_format.sh --fix"
done
echo "${#files[@]} files, ${#bad[@]} not formatted"
[[ ${#bad[@]} == 0 ]]
