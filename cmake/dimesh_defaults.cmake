# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Defaults that only the top-level project may choose.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Where several MPIs are installed side by side, take the one asked for by its full name.
set(DIMESH_MPI openmpi CACHE STRING "Which MPI, where there are several: openmpi or mpich")
if(NOT MPI_CXX_COMPILER OR (dimesh_mpi_found AND NOT dimesh_mpi_found STREQUAL DIMESH_MPI))
  find_program(dimesh_mpi_wrapper NAMES mpicxx.${DIMESH_MPI} NO_CACHE)
  find_program(dimesh_mpi_launcher NAMES mpirun.${DIMESH_MPI} NO_CACHE)
  if(dimesh_mpi_wrapper AND dimesh_mpi_launcher)
    set(MPI_CXX_COMPILER "${dimesh_mpi_wrapper}" CACHE FILEPATH "MPI compiler wrapper" FORCE)
    set(MPIEXEC_EXECUTABLE "${dimesh_mpi_launcher}" CACHE FILEPATH "MPI launcher" FORCE)
    set(dimesh_mpi_found "${DIMESH_MPI}" CACHE INTERNAL "Which MPI these are of")
  endif()
endif()

# The sloppiness lets ccache serve translation units that use a precompiled header.
find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    "${CCACHE_PROGRAM}")
endif()
