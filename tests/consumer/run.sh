#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds and runs a user's project against this library.
#
#   run.sh KIND BUILD_DIR MPICXX MPIRUN
#
#   install           puts the library below BUILD_DIR/tests/consumer/prefix, where the others find it
#   find_package, add_subdirectory, pkg_config     three ways to use it
#   missing           without Kokkos the package is not found, and that is all
#   own_kokkos        a Kokkos that is there already is the one used
#   recorded          another Kokkos and CBLAS and no oneDNN, under folders with spaces: the package remembers
#                     them, and where its headers are
#   bare              without JSON, CLI11 or zlib, which are optional, the examples and benchmarks that
#                     need them are left out
#   compiled          links the compiled part of the library, into a program and a module, and is refused where
#                     it was compiled otherwise
set -euo pipefail

kind=$1 build=$2 mpicxx=$3 mpirun=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$build/tests/consumer
prefix=$work/prefix
mkdir -p "$work"

cache() {
  sed -n "s/^$1:[^=]*=//p" "$build/CMakeCache.txt"
}

# configure PROJECT OPTIONS...: a fresh build of a user's project in $work/PROJECT.
configure() {
  local project=$1
  shift
  rm -rf "${work:?}/$project"
  cmake -S "$here/$project" -B "$work/$project" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$prefix" "$@" > "$work/$project.log" 2>&1 ||
    { cat "$work/$project.log"; return 1; }
}

# library FOLDER OPTIONS...: configures the library in $work/FOLDER, to be installed into $prefix.
library() {
  local folder=$1
  shift
  cmake -S "$here/../.." -B "$work/$folder" -G Ninja -DDIMESH_TESTS=OFF -DDIMESH_EXAMPLES=OFF \
    -DDIMESH_BENCHMARKS=OFF -DMPI_CXX_COMPILER="$mpicxx" -DCMAKE_INSTALL_PREFIX="$prefix" "$@" \
    > "$work/$folder.log" 2>&1 || { cat "$work/$folder.log" && return 1; }
}

# by_pkg_config FOLDER: the program compiled with what dimesh.pc says; its output may hold quoted spaces.
by_pkg_config() {
  local flags libraries
  mkdir -p "$1"
  PKG_CONFIG_PATH=$(find "$prefix" -type d -name pkgconfig)
  export PKG_CONFIG_PATH
  eval "flags=($(pkg-config --cflags dimesh))"
  eval "libraries=($(pkg-config --libs dimesh))"
  "$mpicxx" "${flags[@]}" "$here/main.cpp" -o "$1/consumer" "${libraries[@]}"
}

# Debian's Kokkos beside a package of Kokkos' own kind; ends the test as skipped where there is none.
other_kokkos() {
  local headers library
  headers=$(cache DIMESH_KOKKOS_INCLUDE_DIR)
  library=$(cache DIMESH_KOKKOS_LIBRARY)
  if [[ -z $headers || -z $library ]]; then
    echo "this build does not use Debian's Kokkos"
    exit 77
  fi
  mkdir -p "$1"
  ln -sfn "$headers" "$1/include"
  ln -sfn "$library" "$1/libkokkoscore.so"
  cp "$here/kokkos_package/KokkosConfig.cmake" "$1"
}

# This machine's CBLAS as a BLIS with a prefix of its own, if it uses one.
other_cblas() {
  local headers library
  headers=$(cache DIMESH_CBLAS_INCLUDE_DIR)
  library=$(cache DIMESH_CBLAS_LIBRARY)
  [[ -e $library ]] || return 0
  mkdir -p "$1/include" "$1/lib"
  ln -sfn "$headers" "$1/include/blis"
  ln -sfn "$library" "$1/lib/libblis.so"
  options+=("-DCMAKE_PREFIX_PATH=$1")
  expected+=";DIMESH_CBLAS_LIBRARY=$1/lib/libblis.so;DIMESH_CBLAS_INCLUDE_DIR=$1/include/blis"
}

case $kind in
  install)
    rm -rf "$prefix"
    cmake --install "$build" --prefix "$prefix"
    exit 0
    ;;
  find_package | add_subdirectory)
    configure "$kind" -DMPI_CXX_COMPILER="$mpicxx" -DKokkos_DIR="$(cache Kokkos_DIR)" -DCMAKE_CXX_FLAGS_RELEASE=-O0
    cmake --build "$work/$kind"
    ;;
  pkg_config)
    by_pkg_config "$work/$kind"
    ;;
  missing | own_kokkos)
    configure "$kind"
    [[ $kind == missing ]] || configure "$kind" -DWITH_CUDA=ON
    [[ $kind == missing ]] || configure "$kind" -DWITH_HIP=ON
    exit 0
    ;;
  recorded)
    work="$work/a folder"
    rm -rf "$work"
    prefix="$work/a prefix"
    mkdir -p "$work"
    other_kokkos "$work/a kokkos"
    options=(-DDIMESH_WITH_ONEDNN=OFF "-DKokkos_DIR=$work/a kokkos"
      -DCMAKE_INSTALL_INCLUDEDIR=headers/of/dimesh)
    expected="Kokkos_DIR=$work/a kokkos;DIMESH_WITH_ONEDNN=OFF;MPI_CXX_COMPILER=$mpicxx"
    other_cblas "$work/a blis"
    library library "${options[@]}"
    clang=$(cache DIMESH_CLANGXX)
    if [[ -x $clang ]]; then  # which has an option more
      library library_of_clang "${options[@]}" "-DCMAKE_CXX_COMPILER=$clang"
      grep -E '^Cflags: [^;]* -I\$\{includedir\} [^;]*-fopenmp -Wno-pass-failed ' \
        "$work/library_of_clang/dimesh.pc"
    fi
    other_kokkos "$work/a kokkos with HIP"
    echo 'set(Kokkos_DEVICES "HIP;SERIAL")' >> "$work/a kokkos with HIP/KokkosConfig.cmake"
    library library_with_hip "${options[@]}" "-DKokkos_DIR=$work/a kokkos with HIP" -DDIMESH_COMPILED=ON
    grep -e '-fopenmp-simd' "$work/library/dimesh.pc"
    test -s "$work/library_with_hip/dimesh.pc" && test -s "$work/library_with_hip/build.ninja"
    grep -re '-fopenmp-simd' "$work/library_with_hip/dimesh.pc" "$work/library_with_hip/build.ninja" && exit 1
    cmake --install "$work/library" > /dev/null
    configure find_package "-DEXPECTED=$expected"
    by_pkg_config "$work/$kind"
    ;;
  bare)
    work="$work/bare"
    rm -rf "$work"
    mkdir -p "$work"
    library library -DDIMESH_EXAMPLES=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON \
      "-DKokkos_DIR=$(cache Kokkos_DIR)"
    grep "examples/language_model is left out (nlohmann's JSON was not found)" "$work/library.log"
    cmake --build "$work/library" --target help > "$work/targets"
    grep '^example.02_matrix_product: phony' "$work/targets"
    grep -E '^example.(language_model|unet|image_classifier): phony' "$work/targets" && exit 1
    library options -DDIMESH_EXAMPLES=ON -DDIMESH_CLI11_INCLUDE_DIR= "-DKokkos_DIR=$(cache Kokkos_DIR)"
    grep "examples/language_model is left out (CLI11 was not found)" "$work/options.log"
    cmake --build "$work/options" --target help > "$work/targets"
    grep '^example.unet: phony' "$work/targets"
    library zlib -DDIMESH_EXAMPLES=ON -DDIMESH_BENCHMARKS=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON \
      "-DKokkos_DIR=$(cache Kokkos_DIR)"
    grep "examples/unet is left out (zlib was not found)" "$work/zlib.log"
    grep "benchmarks/input_files is left out (zlib was not found)" "$work/zlib.log"
    exit 0
    ;;
  compiled)
    work="$work/compiled"
    rm -rf "$work"
    prefix="$work/prefix"
    mkdir -p "$work"
    options=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 "-DMPI_CXX_COMPILER=$mpicxx"
      "-DKokkos_DIR=$(cache Kokkos_DIR)")
    library library -DDIMESH_COMPILED=ON "${options[@]}"
    cmake --build "$work/library"
    cmake --install "$work/library" > /dev/null
    configure find_package -DCONSUMED=dimesh::compiled -DCMAKE_CXX_FLAGS=-DDIMESH_CHECKED "${options[@]}"
    if cmake --build "$work/find_package" > "$work/refused.log" 2>&1; then
      echo "a program with DIMESH_CHECKED links a library without it"
      exit 1
    fi
    grep 'compiled_library<true, ' "$work/refused.log"
    configure find_package -DCONSUMED=dimesh::compiled "${options[@]}"
    cmake --build "$work/find_package" --target consumer plugin
    kind=find_package
    if [[ $(cmake -LA -N "$work/library" | sed -n 's/^CMAKE_CXX_COMPILER:[^=]*=//p') != *clang* ]]; then
      find "$work/find_package" -name main.cpp.o -exec nm -C {} + | grep ' U dimesh::detail::bound<dimesh::detail::einsum_op<float'
    fi
    ;;
  *)
    echo "run.sh: unknown kind $kind" >&2
    exit 2
    ;;
esac
cd "$work"  # where the program leaves what it saves
"$mpirun" -n 2 "$work/$kind/consumer"
