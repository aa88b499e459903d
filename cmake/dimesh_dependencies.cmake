# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What dimesh stands on, found the same way for this project and for those that use the installed
# package. Each dependency becomes one target that exists in any case:
#
#   dimesh::mpi     dimesh::kokkos     dimesh::hana        required
#   dimesh::onednn  dimesh::cblas                          optional, empty where absent or OFF
#   dimesh::zlib                                           optional, for programs that include
#                                                          <dimesh/io/idx.hpp>
#
# DIMESH_WITH_ONEDNN and DIMESH_WITH_CBLAS are AUTO (use it if it is there), ON or OFF.

if(TARGET dimesh::kokkos)
  return()
endif()

# --- MPI: the C interface, by any C++ compiler ---------------------------------------------------
set(MPI_CXX_SKIP_MPICXX TRUE)
find_package(MPI REQUIRED COMPONENTS CXX)
add_library(dimesh::mpi INTERFACE IMPORTED)
target_link_libraries(dimesh::mpi INTERFACE MPI::MPI_CXX)

# --- Kokkos: its own package, or the one that Trilinos carries -----------------------------------
if(NOT DEFINED CMAKE_CXX_EXTENSIONS)
  set(CMAKE_CXX_EXTENSIONS OFF)  # Kokkos insists, and warns if it has to say so
endif()
find_package(Kokkos REQUIRED)
add_library(dimesh::kokkos INTERFACE IMPORTED)
if(TARGET Kokkos::kokkos AND NOT TARGET trilinos_kokkoscore)
  target_link_libraries(dimesh::kokkos INTERFACE Kokkos::kokkos)
else()
  # Debian's configuration names include directories that do not exist.
  find_path(DIMESH_KOKKOS_INCLUDE_DIR Kokkos_Core.hpp HINTS ${Kokkos_INCLUDE_DIRS}
    PATH_SUFFIXES include/trilinos trilinos include/kokkos kokkos REQUIRED)
  find_library(DIMESH_KOKKOS_LIBRARY NAMES kokkoscore trilinos_kokkoscore
    HINTS ${Kokkos_LIBRARY_DIRS} REQUIRED)
  mark_as_advanced(DIMESH_KOKKOS_INCLUDE_DIR DIMESH_KOKKOS_LIBRARY)
  set_target_properties(dimesh::kokkos PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${DIMESH_KOKKOS_INCLUDE_DIR}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${DIMESH_KOKKOS_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${DIMESH_KOKKOS_LIBRARY};${CMAKE_DL_LIBS}")
endif()

# --- Boost.Hana: headers only --------------------------------------------------------------------
find_path(DIMESH_HANA_INCLUDE_DIR boost/hana.hpp HINTS ${BOOST_ROOT} $ENV{BOOST_ROOT}
  PATH_SUFFIXES include)
mark_as_advanced(DIMESH_HANA_INCLUDE_DIR)
if(NOT DIMESH_HANA_INCLUDE_DIR)
  message(FATAL_ERROR
    "dimesh: Boost.Hana was not found; install Boost's headers (Debian: libboost-dev) or set "
    "DIMESH_HANA_INCLUDE_DIR to the directory that holds boost/hana.hpp")
endif()
add_library(dimesh::hana INTERFACE IMPORTED)
set_target_properties(dimesh::hana PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${DIMESH_HANA_INCLUDE_DIR}"
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${DIMESH_HANA_INCLUDE_DIR}")

# --- Local products: oneDNN (float, bfloat16) and any CBLAS (double, complex) --------------------
foreach(dimesh_switch DIMESH_WITH_ONEDNN DIMESH_WITH_CBLAS)
  set(${dimesh_switch} AUTO CACHE STRING "AUTO: use it if it is there; ON: require it; OFF: do not")
  set_property(CACHE ${dimesh_switch} PROPERTY STRINGS AUTO ON OFF)
endforeach()

add_library(dimesh::onednn INTERFACE IMPORTED)
set(DIMESH_ONEDNN_FOUND FALSE)
if(DIMESH_WITH_ONEDNN)
  find_path(DIMESH_ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp HINTS $ENV{DNNL_ROOT}
    PATH_SUFFIXES include)
  find_library(DIMESH_ONEDNN_LIBRARY NAMES dnnl HINTS $ENV{DNNL_ROOT} PATH_SUFFIXES lib)
  mark_as_advanced(DIMESH_ONEDNN_INCLUDE_DIR DIMESH_ONEDNN_LIBRARY)
  if(DIMESH_ONEDNN_INCLUDE_DIR AND DIMESH_ONEDNN_LIBRARY)
    set(DIMESH_ONEDNN_FOUND TRUE)
    set_target_properties(dimesh::onednn PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${DIMESH_ONEDNN_INCLUDE_DIR}"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${DIMESH_ONEDNN_INCLUDE_DIR}"
      INTERFACE_LINK_LIBRARIES "${DIMESH_ONEDNN_LIBRARY}"
      INTERFACE_COMPILE_DEFINITIONS "DIMESH_WITH_ONEDNN=1")
  elseif(NOT DIMESH_WITH_ONEDNN STREQUAL "AUTO")
    message(FATAL_ERROR "dimesh: DIMESH_WITH_ONEDNN is ON, but oneDNN was not found; install it "
      "(Debian: libdnnl-dev) or choose AUTO or OFF")
  endif()
endif()

add_library(dimesh::cblas INTERFACE IMPORTED)
set(DIMESH_CBLAS_FOUND FALSE)
if(DIMESH_WITH_CBLAS)
  find_path(DIMESH_CBLAS_INCLUDE_DIR cblas.h HINTS $ENV{BLAS_ROOT}
    PATH_SUFFIXES include include/openblas openblas blis)
  find_library(DIMESH_CBLAS_LIBRARY NAMES openblas cblas blis mkl_rt HINTS $ENV{BLAS_ROOT}
    PATH_SUFFIXES lib)
  mark_as_advanced(DIMESH_CBLAS_INCLUDE_DIR DIMESH_CBLAS_LIBRARY)
  if(DIMESH_CBLAS_INCLUDE_DIR AND DIMESH_CBLAS_LIBRARY)
    set(DIMESH_CBLAS_FOUND TRUE)
    set_target_properties(dimesh::cblas PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${DIMESH_CBLAS_INCLUDE_DIR}"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${DIMESH_CBLAS_INCLUDE_DIR}"
      INTERFACE_LINK_LIBRARIES "${DIMESH_CBLAS_LIBRARY}"
      INTERFACE_COMPILE_DEFINITIONS "DIMESH_WITH_CBLAS=1")
  elseif(NOT DIMESH_WITH_CBLAS STREQUAL "AUTO")
    message(FATAL_ERROR "dimesh: DIMESH_WITH_CBLAS is ON, but no CBLAS was found; install one "
      "(Debian: libopenblas-dev) or choose AUTO or OFF")
  endif()
endif()

# --- zlib: reading compressed data files ---------------------------------------------------------
find_package(ZLIB QUIET)
add_library(dimesh::zlib INTERFACE IMPORTED)
if(TARGET ZLIB::ZLIB)
  target_link_libraries(dimesh::zlib INTERFACE ZLIB::ZLIB)
endif()
