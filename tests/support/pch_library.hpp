// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do most tests include of the library, too? For clang, which reads of a precompiled header
// only what a file needs of it; g++ reads all, and takes longer for that than for the headers.
#pragma once

#include "support/pch.hpp"
// (The order is that of the tests: the library after others' headers.)
#include <dimesh/dimesh.hpp>

#if __has_include(<census.hpp>)
#include "support/adjoint.hpp"
#endif
