#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What would a device's compiler refuse? This has nvcc compile a program of most operations for a
# device, to PTX. It needs no device, links nothing and runs nothing, and is not part of the
# continuous tests.
#
#   scripts/nvcc.sh KOKKOS [--arch sm_90] [nvcc's options...]
#
#   KOKKOS   a folder with Kokkos' sources, which are configured for CUDA, and not built
#
# (Kokkos before 4.7 does not know CUDA 13: two calls in Cuda/Kokkos_Cuda_Instance.hpp,
# cudaGraphAddDependencies and cudaMemPrefetchAsync, have other arguments there.)
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

arch=sm_90
case ${1:-} in
  -h | --help) sed -n '3,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
  '') echo "nvcc.sh: name a folder with Kokkos' sources" >&2 && exit 2 ;;
esac
kokkos=$(realpath "$1") && shift
if [[ ${1:-} == --arch ]]; then
  arch=${2:?--arch needs a name} && shift 2
fi
command -v nvcc > /dev/null || PATH=$PATH:/usr/local/cuda/bin
command -v nvcc > /dev/null || { echo "nvcc.sh: there is no nvcc in PATH" >&2 && exit 1; }

top=$root/build/nvcc
mkdir -p "$top"
if [[ ! -e $top/kokkos/KokkosCore_config.h ]]; then
  NVCC_WRAPPER_DEFAULT_ARCH=$arch cmake -S "$kokkos" -B "$top/kokkos" -G Ninja -DCMAKE_CXX_STANDARD=20 \
    -DCMAKE_CXX_COMPILER="$kokkos/bin/nvcc_wrapper" -DCMAKE_CXX_EXTENSIONS=OFF -DKokkos_ENABLE_CUDA=ON \
    -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_TESTS=OFF \
    > "$top/configure.log" 2>&1 || { tail -n 40 "$top/configure.log" && exit 1; }
fi
# shellcheck disable=SC2046
nvcc -std=c++20 -arch="$arch" -x cu --expt-relaxed-constexpr --extended-lambda \
  -diag-suppress 1675,177,2189 -DDIMESH_WITH_FFTW=0 -Iinclude -I"$top/kokkos" \
  -I"$kokkos/core/src" -I"$top/kokkos/core/src" -I"$top/kokkos/core/src/desul" \
  -I"$kokkos/tpls/desul/include" -I"$kokkos/tpls/mdspan/include" \
  $(pkg-config --cflags-only-I mpi) -ptx -o "$top/device_program.ptx" "$@" \
  tests/support/device_program.cpp
echo "nvcc takes tests/support/device_program.cpp: build/nvcc/device_program.ptx has" \
  "$(grep -c '^\.visible \.entry' "$top/device_program.ptx") kernels"
