#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Debian's g++ is 12. This takes newer ones from a later Debian, unpacks them beside the project, and
# has them read all headers (with all warnings), examples, benchmarks and tests. It makes no programs,
# and is not part of the continuous tests.
#
#   scripts/newer_gcc.sh [--suite trixie] [--versions "13 14"] [FILE...]
#
#   --suite NAME     the Debian that has them, on the mirror that apt uses here
#   --versions LIST  which of them
#   FILE             only these sources
#
# What it unpacked lies in build/newer-gcc.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

suite=trixie
versions="13 14"
files=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --suite) suite=${2:?--suite needs a name} && shift ;;
    --versions) versions=${2:?--versions needs a list} && shift ;;
    -h | --help) sed -n '3,14s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 0 ;;
    -*) echo "newer_gcc.sh: unknown option $1; see --help" >&2 && exit 2 ;;
    *) files+=("$(realpath "$1")") ;;
  esac
  shift
done
cd "$root"
install_missing "${packages_build[@]}" "${packages_test[@]}"

top=$root/build/newer-gcc
triple=$(g++ -print-multiarch)
tree=$top/tree
libraries=$tree/usr/lib/$triple
if [[ ! -e $top/complete-$suite-${versions// /-} ]]; then
  echo "== g++ $versions of $suite ($(date +%T))"
  mkdir -p "$top"/{lists,cache/archives,packages}/partial
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1)
  echo "deb $mirror $suite main" > "$top/sources.list"
  apt=(apt-get -q -o "Dir::Etc::sourcelist=$top/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::Lists=$top/lists" -o "Dir::Cache=$top/cache")
  wanted=(libc6 libgmp10 libmpfr6 libmpc3 libisl23 zlib1g libzstd1 libstdc++6 libgcc-s1)
  for v in $versions; do
    wanted+=("g++-$v-${triple//_/-}" "libstdc++-$v-dev" "libgcc-$v-dev")
  done
  {
    "${apt[@]}" update && cd "$top/packages" && "${apt[@]}" download "${wanted[@]}" && cd "$root" &&
      for package in "$top"/packages/*.deb; do dpkg -x "$package" "$tree"; done
  } > "$top/log" 2>&1 || { tail -n 20 "$top/log" && exit 1; }
  touch "$top/complete-$suite-${versions// /-}"
fi

if [[ ${#files[@]} -eq 0 ]]; then
  (cd include && find dimesh -name '*.hpp' | sort | sed 's/.*/#include "&"/') > "$top/all_headers.cpp"
  mapfile -t files < <(echo "$top/all_headers.cpp" && find examples benchmarks tests/mpi tests/unit \
    tests/run_fail -name '*.cpp' ! -name device.cpp | sort)
fi
# Of the tests of random cases some text is generated, as in tests/CMakeLists.txt.
python3 tests/support/make_differential.py --seed 1 --count 60 \
  --out "$top/generated/differential_cases.hpp"
read -ra flags < <(cd tests/compile_fail && python3 -c 'import run; print(*run.default_flags())')

# read_by VERSION FILE: its name and the first errors, if there are any
read_by() {
  local warnings=-w said
  [[ $2 == */all_headers.cpp ]] && warnings="-Werror -Wall -Wextra -Wconversion -Wshadow"
  # shellcheck disable=SC2086
  said=$("$libraries"/ld-linux-*.so.* --library-path "$libraries" \
    "$tree/usr/libexec/gcc/$triple/$1/cc1plus" -quiet -fsyntax-only -o /dev/null -std=c++20 $warnings \
    -imultiarch "$triple" -D_GNU_SOURCE -DOMPI_SKIP_MPICXX -nostdinc \
    -isystem "$tree/usr/include/c++/$1" -isystem "$tree/usr/include/$triple/c++/$1" \
    -isystem "$tree/usr/lib/gcc/$triple/$1/include" "${flags[@]}" -Itests -Iexamples \
    "-I$top/generated" -Isupport/census -idirafter "/usr/include/$triple" -idirafter /usr/include "$2" 2>&1) ||
    { echo "g++ $1: $2" && grep -m 3 -E "error" <<< "$said"; return 1; }
}
export -f read_by
export libraries tree triple top
status=0
for v in $versions; do
  echo "== g++ $v: ${#files[@]} files ($(date +%T))"
  flags_text=${flags[*]}
  export flags_text v
  printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(jobs_that_fit)" bash -c \
    'read -ra flags <<< "$flags_text"; read_by "$v" "$1"' _ || status=1
done
[[ $status == 0 ]] && echo "newer_gcc.sh: all is accepted"
exit "$status"
