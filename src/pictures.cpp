// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiled part of the library (with DIMESH_COMPILED=2), its pictures: plots, timelines and
// traces.
#include <dimesh/show/svg.hpp>
#include <dimesh/show/timeline_svg.hpp>
#include <dimesh/show/trace.hpp>
