#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Are the results of a program those of its next run, and does compare.py see where one is not?
#
#   again.sh FOLDER COMMAND...
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1
shift
mkdir -p "$folder"
"$@" > "$folder/first"
"$@" > "$folder/second"
"$here/compare.py" "$folder/first" "$folder/second"

# One result that is another one; one that is rounded otherwise; one that is lacking.
sed -E '3s/ [0-9a-f]{8} +[^ ]+/ 00000000 1e3/' "$folder/first" > "$folder/other"
sed -E '3s/ [0-9a-f]{8} / 00000000 /' "$folder/first" > "$folder/rounded"
sed 3d "$folder/first" > "$folder/lacking"
for wrong in "other --rounding" "rounded" "lacking --rounding"; do
  # shellcheck disable=SC2086
  if (cd "$folder" && "$here/compare.py" first $wrong); then
    echo "again.sh: this was not seen: $wrong" >&2
    exit 1
  fi
done
(cd "$folder" && "$here/compare.py" first rounded --rounding)
