#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds Kokkos with CUDA from source, then the tests for devices (those that say `// labels: device`)
# and benchmarks/device and language_model, with nvcc, and runs them. It is not part of the continuous
# tests.
#
#   scripts/cuda.sh KOKKOS [--arch HOPPER90] [--filter REGEX] [--build-only]
#
#   KOKKOS           a folder with Kokkos' sources (of 4.6: see below)
#   --arch NAME      the device, by Kokkos' names (HOPPER90)
#   --filter REGEX   of the tests for devices, those whose name matches
#   --build-only     runs nothing: what is built needs nvcc, and no device
#
# What it made lies in build/kokkos-cuda and build/cuda; Kokkos is built once for KOKKOS and NAME. A
# device takes as many ranks as memory lets it. Products want cuBLAS. Kokkos before 4.7 does not know
# CUDA 13: two calls in Cuda/Kokkos_Cuda_Instance.hpp (cudaGraphAddDependencies, cudaMemPrefetchAsync)
# have other arguments there, and default_arch in bin/nvcc_wrapper names a device that is gone.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

kokkos=
arch=HOPPER90
filter=.
build_only=false
while [[ $# -gt 0 ]]; do
  case $1 in
    --arch) arch=${2:?--arch needs a name} && shift ;;
    --filter) filter=${2:?--filter needs a regular expression} && shift ;;
    --build-only) build_only=true ;;
    -h | --help) sed -n '3,17s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
    -*) echo "cuda.sh: unknown option $1; see --help" >&2 && exit 2 ;;
    *) kokkos=$(realpath -m "$1") ;;
  esac
  shift
done
cd "$root"
[[ -n $kokkos ]] || { echo "cuda.sh: name a folder with Kokkos' sources" >&2 && exit 2; }
[[ -e $kokkos/bin/nvcc_wrapper ]] || { echo "cuda.sh: no sources of Kokkos are in '$kokkos'" >&2 && exit 2; }
command -v nvcc > /dev/null || PATH=$PATH:/usr/local/cuda/bin
command -v nvcc > /dev/null || { echo "cuda.sh: there is no nvcc in PATH" >&2 && exit 1; }
install_missing "${packages_build[@]}" "${packages_test[@]}"
set_run_environment
# nvcc's own remarks: on pragmas of others, on what is not called, on friends and discarded results.
export NVCC_APPEND_FLAGS="-diag-suppress 1675,177,2189,1301,3001"

prefix=$root/build/kokkos-cuda
asked="$kokkos $arch $(cat "$kokkos/CMakeLists.txt" 2> /dev/null | sha256sum || true)"  # which holds the version
mkdir -p "$root/build"
if [[ ! -e $prefix/complete || $(cat "$prefix/complete") != "$asked" ]]; then
  rm -rf "$prefix" "$prefix-work"  # of other sources, or for another device
  echo "== Kokkos with CUDA ($(date +%T))"
  {
    cmake -S "$kokkos" -B "$prefix-work" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_CXX_STANDARD=20 \
      -DCMAKE_CXX_EXTENSIONS=OFF -DCMAKE_CXX_COMPILER="$kokkos/bin/nvcc_wrapper" \
      -DKokkos_ENABLE_CUDA=ON -DKokkos_ARCH_"$arch"=ON -DKokkos_ENABLE_SERIAL=ON \
      -DKokkos_ENABLE_TESTS=OFF &&
      cmake --build "$prefix-work" -j "$(jobs_that_fit)" && cmake --install "$prefix-work"
  } > "$prefix.log" 2>&1 || { tail -n 40 "$prefix.log" && exit 1; }
  echo "$asked" > "$prefix/complete"
fi

build=$root/build/cuda
echo "== configure and build ($(date +%T))"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DKokkos_ROOT="$prefix" \
  -DCMAKE_CXX_COMPILER="$kokkos/bin/nvcc_wrapper" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
  -DDIMESH_EXAMPLES=OFF -DDIMESH_WITH_ONEDNN=OFF > "$build.configure.log" 2>&1 ||
  { cat "$build.configure.log" && exit 1; }
targets=$(ctest --test-dir "$build" -N -L device -R "$filter" |
  sed -nE 's,^ *Test +#[0-9]+: +(mpi/.*)/[0-9]+$,\1,p' | sed -E 's,/,.,g; s,^,test.,' | sort -u)
status=0
# shellcheck disable=SC2086
cmake --build "$build" --target $targets bench.device bench.language_model -j "$(jobs_that_fit)" \
  -- -k 0 || status=1
[[ $build_only == true ]] && exit "$status"
ctest --test-dir "$build" -j 4 --output-on-failure -L device -R "$filter" || status=1
"$build/benchmarks/device" || status=1
"$build/benchmarks/language_model" || status=1
exit "$status"
