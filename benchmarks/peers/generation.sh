#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How fast does a model write beside PyTorch's? benchmarks/generation and generation_torch.py take
# turns, on one core and on two; the median of the rounds counts. PyTorch has the build of OpenBLAS
# that shares its threads. Bar: 1.3 times as many tokens a second, of one text and of sixteen.
#
#   benchmarks/peers/generation.sh [--rounds N]
#
#   --rounds N   how often both run (3)
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
cd "$root"

rounds=3
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) sed -n '3,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
    --rounds) rounds=${2:?--rounds needs a number} && shift ;;
    *) echo "generation.sh: unknown argument $1; see --help" >&2 && exit 2 ;;
  esac
  shift
done
python=$(python_with torch)
shared=$(find /usr/lib -type d -name openblas-openmp 2> /dev/null | head -n 1)
if [[ -z $python || -z $shared ]]; then
  echo "generation.sh: needed are PyTorch and OpenBLAS with OpenMP threads:" >&2
  echo "  sudo apt-get install -y --no-install-recommends python3-torch libopenblas0-openmp" >&2
  exit 1
fi
set_run_environment
help_openblas
if grep -qw avx512f /proc/cpuinfo; then
  export ATEN_CPU_CAPABILITY=avx512  # not PyTorch's own choice
fi

# torch THREADS BATCH
torch() {
  env OMP_NUM_THREADS="$1" OPENBLAS_NUM_THREADS="$1" \
    LD_LIBRARY_PATH="$shared${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    "$python" benchmarks/peers/generation_torch.py --threads "$1" --batch "$2" |
    sed 's/^generation/torch/' >> "$lines"
}

lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
for ((round = 0; round < rounds; ++round)); do
  scripts/bench.sh generation | sed -n 's/^generation/here/p' >> "$lines"
  for batch in 1 16; do
    torch 1 "$batch"
    torch 2 "$batch"
  done
done
python3 - "$lines" << 'PYTHON'
import statistics
import sys

rates = {}
for line in open(sys.argv[1]):
    whose, _, batch, _, cores, rate = line.split()[:6]
    rates.setdefault((int(cores), int(batch), whose), []).append(float(rate))
median = {key: statistics.median(of) for key, of in rates.items()}
short = False
for cores in (1, 2):
    for batch in (1, 16):
        here, torch = (median[cores, batch, whose] for whose in ("here", "torch"))
        met = here >= 1.3 * torch
        short = short or not met
        print(f"{cores} cores, batch {batch:2}  here {here:7.0f} tokens/s  PyTorch {torch:7.0f}  "
              f"ratio {here / torch:.2f}  >= 1.30 {'PASS' if met else 'short'}")
sys.exit(short)
PYTHON
