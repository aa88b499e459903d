#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Times PyTorch, as fast as Debian's build of it goes: AVX-512 kernels where the processor has them,
# an OpenBLAS that picks its kernels itself, and for two threads the build of OpenBLAS that shares its
# threads with PyTorch (both beside what is installed by default). Then two processes.
#
#   benchmarks/peers/run.sh [--lengths "128 256"] [ARGUMENTS...]    a training step of a small GPT:
#       two processes are data parallel, with the same batch (strong), and with twice the batch (weak)
#   benchmarks/peers/run.sh experts [ARGUMENTS...]                  a layer of experts: the sizes of
#       benchmarks/experts on one core, and on two with twice the tokens, as its two ranks have
#   benchmarks/peers/run.sh convolution [ARGUMENTS...]              convolutions and their gradients:
#       the shapes of benchmarks/convolution on one core
#
#   ARGUMENTS   for gpt_torch.py, experts_torch.py, convolution_torch.py: --steps 50, --json, ...
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
cd "$root"

lengths="128 256"
program=gpt
case ${1:-} in
  -h | --help) sed -n '3,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
  experts | convolution) program=$1 && shift ;;
  --lengths) lengths=${2:?--lengths needs a list} && shift 2 ;;
esac

python=$(python_with torch.distributed)
shared=$(find /usr/lib -type d -name openblas-openmp 2> /dev/null | head -n 1)
if [[ -z $python || -z $shared ]]; then
  echo "run.sh: needed are PyTorch and OpenBLAS with OpenMP threads:" >&2
  echo "  sudo apt-get install -y --no-install-recommends python3-torch libopenblas0-openmp" >&2
  exit 1
fi

set_run_environment
help_openblas
if grep -qw avx512f /proc/cpuinfo; then
  export ATEN_CPU_CAPABILITY=avx512  # not PyTorch's own choice
fi

# step LABEL THREADS LIBRARIES ARGUMENTS...: one measurement; LIBRARIES: a folder, or nothing
step() {
  local label=$1 threads=$2 libraries=$3
  shift 3
  env OMP_NUM_THREADS="$threads" OPENBLAS_NUM_THREADS="$threads" \
    LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    "$python" "benchmarks/peers/${program}_torch.py" --label "$label" --threads "$threads" "$@"
}

if [[ $program == experts ]]; then
  step "1 thread" 1 "$shared" "$@"
  step "2 threads, as installed" 2 "" --groups 8 "$@"
  step "2 threads, OpenBLAS-OpenMP" 2 "$shared" --groups 8 "$@"
  step "2 processes" 1 "$shared" --processes 2 "$@"
  exit
fi
if [[ $program == convolution ]]; then
  step "1 thread" 1 "$shared" "$@"
  exit
fi
for length in $lengths; do
  step "1 thread" 1 "$shared" --length "$length" "$@"
  step "2 threads, as installed" 2 "" --length "$length" "$@"
  step "2 threads, OpenBLAS-OpenMP" 2 "$shared" --length "$length" "$@"
  step "2 processes, strong" 1 "$shared" --processes 2 --length "$length" "$@"
  step "2 processes, weak" 1 "$shared" --processes 2 --batch 8 --length "$length" "$@"
done
