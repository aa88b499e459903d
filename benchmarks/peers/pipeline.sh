#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How fast is a pipeline of two stages beside PyTorch's? benchmarks/pipeline and pipeline_torch.py
# take turns; the median of the rounds counts. Bar: 1.3 times as fast, by 1F1B and by GPipe.
#
#   benchmarks/peers/pipeline.sh [--rounds N] [--quick]
#
#   --rounds N   how often both run (3)
#   --quick      4 micro-batches instead of 32
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
cd "$root"

rounds=3 micros=32 quick=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) sed -n '3,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
    --rounds) rounds=${2:?--rounds needs a number} && shift ;;
    --quick) micros=4 quick=(--quick) ;;
    *) echo "pipeline.sh: unknown argument $1; see --help" >&2 && exit 2 ;;
  esac
  shift
done
python=$(python_with torch.distributed)
if [[ -z $python ]]; then
  echo "pipeline.sh: needed is PyTorch: sudo apt-get install -y --no-install-recommends python3-torch" >&2
  exit 1
fi
if grep -qw avx512f /proc/cpuinfo; then
  export ATEN_CPU_CAPABILITY=avx512  # not PyTorch's own choice
fi
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
for ((round = 0; round < rounds; ++round)); do
  scripts/bench.sh pipeline -- "${quick[@]}" |
    awk '$1 == "1F1B" || $1 == "GPipe" && $2 + 0 > 0 { print tolower($1), "here", $2 / 1000 }' >> "$lines"
  "$python" benchmarks/peers/pipeline_torch.py --micros "$micros" |
    awk '$1 == "1f1b" || $1 == "gpipe" { print $1, "torch", $6 }' >> "$lines"
done
python3 - "$lines" << 'PYTHON'
import statistics
import sys

times = {}
for line in open(sys.argv[1]):
    name, whose, milliseconds = line.split()
    times.setdefault((name, whose), []).append(float(milliseconds))
short = False
for name in ("1f1b", "gpipe"):
    here, torch = (statistics.median(times[name, whose]) for whose in ("here", "torch"))
    met = torch / here >= 1.3
    short = short or not met
    print(f"{name:6} here {here:8.1f} ms  PyTorch {torch:8.1f} ms  ratio {torch / here:.2f}  >= 1.30 "
          f"{'PASS' if met else 'short'}")
sys.exit(short)
PYTHON
