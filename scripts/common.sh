# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Shared by the scripts of this folder: installs what is missing, sets the environment of MPI
# programs, and knows the build folder. Sourced, not run.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

packages_build=(g++ cmake ninja-build libboost-dev libtrilinos-kokkos-dev libopenmpi-dev openmpi-bin
  libdnnl-dev libopenblas-dev zlib1g-dev nlohmann-json3-dev libfftw3-dev)
packages_demo=(libcli11-dev nlohmann-json3-dev dataset-fashion-mnist bible-kjv bible-kjv-text
  iso-codes)
packages_test=(ccache pkg-config doctest-dev libbenchmark-dev libmpich-dev mpich clang-19
  libclang-rt-19-dev clang-format-19 gcc-12-plugin-dev python3 python3-numpy)
packages_bench=(libbenchmark-dev libfftw3-mpi-dev)

# Installs the Debian packages of the list that are missing; without root, says how and gives up.
install_missing() {
  local package missing=()
  if ! command -v dpkg-query > /dev/null; then
    echo "note: not a Debian system; needed are the counterparts of: $*" >&2
    return
  fi
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null | grep -qx installed ||
      missing+=("$package")
  done
  [[ ${#missing[@]} == 0 ]] && return
  if [[ $(id -u) != 0 ]]; then
    echo "Some packages are missing. Install them and run this again:" >&2
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  echo "installing: ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    > /dev/null
}

# The cores of this machine; `nproc` alone would believe OMP_NUM_THREADS.
cores() {
  env -u OMP_NUM_THREADS nproc
}

# As many compilers as there are cores, and no more than memory for 2 GB each.
jobs_that_fit() {
  local most memory
  most=$(cores)
  memory=$(awk '/MemAvailable/ {print int($2 / 2000000)}' /proc/meminfo)
  echo $((memory < 1 ? 1 : memory < most ? memory : most))
}

# The environment in which MPI programs run: as root too, more ranks than cores, one thread each,
# and numerical libraries free to pick the kernels of this processor. Open MPI is told what it picks on
# one machine in any case: it looks for fast networks for 0.2 s of each start otherwise.
set_run_environment() {
  export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
  export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_pml=ob1
  unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
}

# openblas_core: the processor whose kernels OpenBLAS picks here, or nothing.
openblas_core() {
  python3 -c '
import ctypes
name = ctypes.CDLL("libopenblas.so.0").openblas_get_corename
name.restype = ctypes.c_char_p
print(name().decode())' 2> /dev/null || true
}

# An OpenBLAS takes processors that are younger than it for the oldest one that it knows, and is five times
# slower than it could be: then it is told, so that twins and peers are as fast as they go.
help_openblas() {
  [[ $(openblas_core) == Prescott ]] || return 0
  if grep -qw avx512f /proc/cpuinfo; then
    export OPENBLAS_CORETYPE=SkylakeX
  elif grep -qw avx2 /proc/cpuinfo; then
    export OPENBLAS_CORETYPE=Haswell
  fi
}

# cache_value BUILD_DIR NAME: what CMake found there.
cache_value() {
  sed -n "s/^$2:[^=]*=//p" "$1/CMakeCache.txt"
}

# setting FILE KEY DEFAULT: the value of the comment `// KEY: VALUE` among the file's first lines.
setting() {
  local value
  value=$(sed -n "1,20s/^\/\/ $2: *//p" "$1" | head -n 1)
  echo "${value:-$3}"
}

# python_with MODULE: a Python that has it, or nothing.
python_with() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c "import $1" 2> /dev/null; then
      echo "$candidate"
      return
    fi
  done
}
