// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where does MPI enter? Here only: the C interface, without the long dead C++ bindings, whose
// declarations alone cost a translation unit half a second.
#pragma once

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
