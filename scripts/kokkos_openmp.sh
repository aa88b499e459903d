#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Debian's Kokkos runs on one thread. This builds the same version with OpenMP from Debian's own sources
# into build/kokkos-openmp, where the preset `openmp` looks for it; once: later calls find it there.
#
#   scripts/kokkos_openmp.sh
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

case ${1:-} in
  '') ;;
  -h | --help) sed -n '3,6s/^# \{0,1\}//p' scripts/kokkos_openmp.sh && exit 0 ;;
  *) echo "kokkos_openmp.sh: unknown option $1; see --help" >&2 && exit 2 ;;
esac

prefix=$root/build/kokkos-openmp
work=$root/build/kokkos-openmp-work
if [[ -e $prefix/complete ]]; then
  echo "Kokkos with OpenMP is in $prefix"
  exit 0
fi
install_missing g++ cmake ninja-build

# The list of sources stays in this folder: the machine's own lists may have no deb-src line, and this
# needs no root. 160 MB, of which Kokkos is a small part.
# shellcheck source=/dev/null
release=$(source /etc/os-release && echo "$VERSION_CODENAME")
# Sources come from where the machine gets its packages.
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' |
  sed -n "s/^$release main //p" | head -n 1)
[[ -n $mirror ]] || { echo "kokkos_openmp.sh: apt knows no mirror of $release main; run apt-get update" >&2 && exit 1; }
rm -rf "$work"
mkdir -p "$work/lists/partial" "$work/source"
cat > "$work/debian.sources" << END
Types: deb-src
URIs: $mirror
Suites: $release
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
options=(-qq -o Dir::Etc::sourcelist="$work/debian.sources" -o Dir::Etc::sourceparts=/dev/null
  -o Dir::State::lists="$work/lists")
apt-get "${options[@]}" -o Dir::Cache="$work/cache" update
(cd "$work/source" && apt-get "${options[@]}" source --download-only trilinos)
tar -xzf "$work"/source/trilinos_*.orig.tar.gz -C "$work/source" --wildcards --strip-components=3 \
  '*/packages/kokkos/*'

{
  cmake -S "$work/source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=ON \
    -DCMAKE_CXX_STANDARD=17 -DCMAKE_CXX_EXTENSIONS=OFF -DKokkos_ENABLE_SERIAL=ON \
    -DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_TESTS=OFF &&
    cmake --build "$work/build" -j "$(jobs_that_fit)" && cmake --install "$work/build"
} > "$root/build/kokkos-openmp.log" 2>&1 || { cat "$root/build/kokkos-openmp.log" && exit 1; }
touch "$prefix/complete"
rm -rf "$work"
echo "Kokkos with OpenMP is in $prefix"
