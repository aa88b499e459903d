#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A CXX_COMPILER_LAUNCHER: compiles with clang what the command after it would with g++.
#
#   with_clang.sh CLANG --precompile COMMAND...    the source's headers, into a precompiled header
#   with_clang.sh CLANG PRECOMPILED COMMAND...     a source that has those before it, not optimised as they are not
#   with_clang.sh CLANG --nothing COMMAND...       a source that has all it needs
set -euo pipefail
clang=$1
precompiled=$2
shift 3  # and g++
options=()
for option in "$@"; do
  case $option in
    -fpch-preprocess | --param=* | -Wno-restrict | -Wno-stringop-overflow | -ffold-simple-inlines) ;;
    *) options+=("$option") ;;
  esac
done
# (What clang says beyond that: of results that doctest's CHECK_THROWS drops, and of the standard library's
# stable_sort.)
options+=(-Wno-pass-failed -Wno-unused-result -Wno-deprecated-declarations)
case $precompiled in
  --precompile) exec "$clang" -x c++-header -fpch-instantiate-templates "${options[@]}" ;;
  --nothing) exec "$clang" "${options[@]}" ;;
  *) exec "$clang" -include-pch "$precompiled" "${options[@]}" -O0 ;;
esac
