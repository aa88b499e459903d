#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds and runs a user's project against this library.
#
#   run.sh install|find_package|add_subdirectory|pkg_config BUILD_DIR MPICXX MPIRUN
#
# `install` puts the library below BUILD_DIR/tests/consumer/prefix, where the others find it.
set -euo pipefail

kind=$1 build=$2 mpicxx=$3 mpirun=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$build/tests/consumer
prefix=$work/prefix
mkdir -p "$work"

build_with_cmake() {
  rm -rf "$work/$kind"
  cmake -S "$here/$kind" -B "$work/$kind" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$prefix" -DMPI_CXX_COMPILER="$mpicxx" > "$work/$kind.log" 2>&1 ||
    { cat "$work/$kind.log"; return 1; }
  cmake --build "$work/$kind"
}

case $kind in
  install)
    rm -rf "$prefix"
    cmake --install "$build" --prefix "$prefix"
    exit 0
    ;;
  find_package | add_subdirectory)
    build_with_cmake
    ;;
  pkg_config)
    mkdir -p "$work/$kind"
    PKG_CONFIG_PATH=$(find "$prefix" -type d -name pkgconfig)
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046
    "$mpicxx" $(pkg-config --cflags dimesh) "$here/main.cpp" -o "$work/$kind/consumer" \
      $(pkg-config --libs dimesh)
    ;;
  *)
    echo "run.sh: unknown kind $kind" >&2
    exit 2
    ;;
esac
"$mpirun" -n 2 "$work/$kind/consumer"
