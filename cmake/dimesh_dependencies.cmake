# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What dimesh stands on, found the same way for this project and for those that use the installed
# package. Each dependency becomes one target that exists in any case:
#
#   dimesh::mpi     dimesh::kokkos     dimesh::hana        required
#   dimesh::onednn  dimesh::cblas                          optional, empty where absent or OFF
#   dimesh::zlib                                           optional, for programs that include
#                                                          <dimesh/io/idx.hpp>
#   dimesh::json                                           likewise, <dimesh/io/checkpoint/...>
#   dimesh::fftw                                           likewise, <dimesh/op/fft.hpp>
#
# DIMESH_WITH_ONEDNN, DIMESH_WITH_CBLAS and DIMESH_WITH_FFTW are AUTO (use it if it is there), ON or
# OFF.
#
# Sets dimesh_missing: a sentence on each thing that is required and was not found; empty if all is
# well. Everything else stays in the block below, so that nothing changes for the caller's targets.
#
# An installed package says beforehand what it was configured with (dimesh-config.cmake):
#   dimesh_recorded_mpi    dimesh_recorded_kokkos    the wrapper and the folder of Kokkos' package
#   dimesh_recorded_hana   dimesh_recorded_onednn    dimesh_recorded_cblas     include directories
#   dimesh_recorded_fftw                                             likewise
#   dimesh_recorded_onednn_library    dimesh_recorded_cblas_library    and the files of their libraries
#   dimesh_recorded_fftw_library      dimesh_recorded_fftwf_library
#   dimesh_recorded_with_onednn    dimesh_recorded_with_cblas    dimesh_recorded_with_fftw   ON or OFF

set(dimesh_missing "")
if(TARGET dimesh::kokkos)
  return()
endif()

set(dimesh_quiet "")
if(dimesh_FIND_QUIETLY)
  set(dimesh_quiet QUIET)
endif()
foreach(dimesh_switch ONEDNN CBLAS FFTW)
  set(dimesh_default AUTO)
  string(TOLOWER "dimesh_recorded_with_${dimesh_switch}" dimesh_recorded)
  if(DEFINED ${dimesh_recorded})
    set(dimesh_default "${${dimesh_recorded}}")
  endif()
  set(DIMESH_WITH_${dimesh_switch} "${dimesh_default}" CACHE STRING
    "AUTO: use it if it is there; ON: require it; OFF: do not")
  set_property(CACHE DIMESH_WITH_${dimesh_switch} PROPERTY STRINGS AUTO ON OFF)
endforeach()
unset(dimesh_switch)
unset(dimesh_default)
unset(dimesh_recorded)

block(SCOPE_FOR VARIABLES PROPAGATE
  dimesh_missing DIMESH_ONEDNN_FOUND DIMESH_CBLAS_FOUND DIMESH_FFTW_FOUND
  DIMESH_CUBLAS_FOUND DIMESH_NVCC DIMESH_HIP)

# dimesh_find_library(<variable> <recorded file> <root> <names>...): the folders that the caller names come
# first, then that of the recorded file, then the system's, each with all of the names.
function(dimesh_find_library variable recorded root)
  cmake_path(GET recorded PARENT_PATH folder)
  cmake_path(GET recorded FILENAME file)
  find_library(${variable} NAMES ${file} ${ARGN} NAMES_PER_DIR HINTS ${root} ${folder}
    PATH_SUFFIXES lib lib64)
  mark_as_advanced(${variable})
endfunction()

# --- MPI: the C interface, by any C++ compiler ---------------------------------------------------
# The recorded wrapper serves where the caller says nothing of MPI, in any of the ways FindMPI knows.
set(MPI_CXX_SKIP_MPICXX TRUE)
if(dimesh_recorded_mpi AND EXISTS "${dimesh_recorded_mpi}" AND NOT TARGET MPI::MPI_CXX
   AND NOT MPI_CXX_COMPILER AND NOT MPI_HOME AND NOT MPI_ROOT AND NOT MPIEXEC_EXECUTABLE
   AND "$ENV{MPI_HOME}$ENV{MPI_ROOT}$ENV{I_MPI_ROOT}" STREQUAL ""
   AND NOT CMAKE_CXX_COMPILER MATCHES "mpi[^/]*$")
  set(MPI_CXX_COMPILER "${dimesh_recorded_mpi}" CACHE FILEPATH "MPI compiler wrapper")
endif()
find_package(MPI ${dimesh_quiet} COMPONENTS CXX)
if(NOT TARGET MPI::MPI_CXX)
  list(APPEND dimesh_missing
    "MPI was not found: install one (Debian: libopenmpi-dev openmpi-bin) or set MPI_CXX_COMPILER")
endif()

# --- Kokkos: the caller's, its own package, or the one that Trilinos carries ---------------------
if(NOT DEFINED CMAKE_CXX_EXTENSIONS)
  set(CMAKE_CXX_EXTENSIONS OFF)  # Kokkos insists, and warns if it has to say so
endif()
if(NOT TARGET Kokkos::kokkos OR TARGET trilinos_kokkoscore)
  find_package(Kokkos ${dimesh_quiet} HINTS "${dimesh_recorded_kokkos}")
endif()
set(kokkos_is_trilinos FALSE)
if(NOT TARGET Kokkos::kokkos OR TARGET trilinos_kokkoscore)
  # Debian's configuration names include directories that do not exist.
  set(kokkos_is_trilinos TRUE)
  find_path(DIMESH_KOKKOS_INCLUDE_DIR Kokkos_Core.hpp HINTS ${Kokkos_INCLUDE_DIRS}
    PATH_SUFFIXES include/trilinos trilinos include/kokkos kokkos)
  find_library(DIMESH_KOKKOS_LIBRARY NAMES kokkoscore trilinos_kokkoscore
    HINTS ${Kokkos_LIBRARY_DIRS})
  mark_as_advanced(DIMESH_KOKKOS_INCLUDE_DIR DIMESH_KOKKOS_LIBRARY)
  if(NOT Kokkos_FOUND OR NOT DIMESH_KOKKOS_INCLUDE_DIR OR NOT DIMESH_KOKKOS_LIBRARY)
    list(APPEND dimesh_missing
      "Kokkos was not found: install it (Debian: libtrilinos-kokkos-dev) or set Kokkos_ROOT")
  endif()
endif()

# --- cuBLAS, beside a Kokkos with CUDA: products on devices ---------------------------------------
set(DIMESH_CUBLAS_FOUND FALSE)
set(DIMESH_NVCC FALSE)  # it compiles what uses the library
# (A Kokkos that the caller's project builds says it by the options of its build, in the cache.)
if("CUDA" IN_LIST Kokkos_DEVICES OR (NOT kokkos_is_trilinos AND Kokkos_ENABLE_CUDA))
  find_package(CUDAToolkit QUIET)
  if(TARGET CUDA::cublas)
    set(DIMESH_CUBLAS_FOUND TRUE)
  endif()
  if(Kokkos_CXX_COMPILER_ID STREQUAL "NVIDIA" OR KOKKOS_CXX_COMPILER_ID STREQUAL "NVIDIA")
    set(DIMESH_NVCC TRUE)
  endif()
endif()

# A Kokkos with HIP, with which clang compiles for devices all that uses the library.
set(DIMESH_HIP FALSE)
if("HIP" IN_LIST Kokkos_DEVICES OR (NOT kokkos_is_trilinos AND Kokkos_ENABLE_HIP))
  set(DIMESH_HIP TRUE)
endif()

# --- Boost.Hana: headers only --------------------------------------------------------------------
find_path(DIMESH_HANA_INCLUDE_DIR boost/hana.hpp
  HINTS ${BOOST_ROOT} $ENV{BOOST_ROOT} "${dimesh_recorded_hana}" PATH_SUFFIXES include)
mark_as_advanced(DIMESH_HANA_INCLUDE_DIR)
if(NOT DIMESH_HANA_INCLUDE_DIR)
  list(APPEND dimesh_missing
    "Boost.Hana was not found: install Boost's headers (Debian: libboost-dev) or set DIMESH_HANA_INCLUDE_DIR to the directory that holds boost/hana.hpp")
endif()

# --- Local products: oneDNN (float, bfloat16) and any CBLAS (double, complex) --------------------
set(DIMESH_ONEDNN_FOUND FALSE)
if(DIMESH_WITH_ONEDNN)
  find_path(DIMESH_ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl_version.h
    HINTS $ENV{DNNL_ROOT} "${dimesh_recorded_onednn}" PATH_SUFFIXES include)
  mark_as_advanced(DIMESH_ONEDNN_INCLUDE_DIR)
  dimesh_find_library(DIMESH_ONEDNN_LIBRARY "${dimesh_recorded_onednn_library}" "$ENV{DNNL_ROOT}" dnnl)
  set(wrong "was not found; install it (Debian: libdnnl-dev)")
  if(DIMESH_ONEDNN_INCLUDE_DIR AND DIMESH_ONEDNN_LIBRARY)
    set(version "")
    foreach(part MAJOR MINOR PATCH)
      file(STRINGS "${DIMESH_ONEDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h" line LIMIT_COUNT 1
        REGEX "#define DNNL_VERSION_${part} +[0-9]+")
      string(REGEX REPLACE ".*DNNL_VERSION_${part} +([0-9]+).*" "\\1" number "${line}")
      string(APPEND version ".${number}")
    endforeach()
    string(SUBSTRING "${version}" 1 -1 version)
    if(version VERSION_LESS 2.5 OR version VERSION_GREATER_EQUAL 4)
      set(wrong "${version} is not supported (2.5 to 3.x are)")
      message(STATUS "dimesh: oneDNN ${wrong}; it is not used")
    else()
      set(DIMESH_ONEDNN_FOUND TRUE)
    endif()
  endif()
  if(NOT DIMESH_ONEDNN_FOUND AND NOT DIMESH_WITH_ONEDNN STREQUAL "AUTO")
    list(APPEND dimesh_missing
      "DIMESH_WITH_ONEDNN is ON, but oneDNN ${wrong} or choose AUTO or OFF")
  endif()
endif()

set(DIMESH_CBLAS_FOUND FALSE)
if(DIMESH_WITH_CBLAS)
  find_path(DIMESH_CBLAS_INCLUDE_DIR cblas.h HINTS $ENV{BLAS_ROOT} "${dimesh_recorded_cblas}"
    PATH_SUFFIXES include include/openblas openblas blis)
  mark_as_advanced(DIMESH_CBLAS_INCLUDE_DIR)
  dimesh_find_library(DIMESH_CBLAS_LIBRARY "${dimesh_recorded_cblas_library}" "$ENV{BLAS_ROOT}"
    openblas cblas blis mkl_rt)
  if(DIMESH_CBLAS_INCLUDE_DIR AND DIMESH_CBLAS_LIBRARY)
    set(DIMESH_CBLAS_FOUND TRUE)
  elseif(NOT DIMESH_WITH_CBLAS STREQUAL "AUTO")
    list(APPEND dimesh_missing
      "DIMESH_WITH_CBLAS is ON, but no CBLAS was found; install one (Debian: libopenblas-dev) or choose AUTO or OFF")
  endif()
endif()
if(NOT DIMESH_ONEDNN_FOUND AND NOT DIMESH_CBLAS_FOUND AND NOT dimesh_quiet)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  if(NOT "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" MATCHES "-(march|mcpu|mavx|x[A-Z])")
    message(STATUS "dimesh: neither oneDNN nor a CBLAS is used, and no -march is set: products will "
      "take three to four times as long as with -march=native")
  endif()
endif()

# --- FFTW: Fourier transforms, float and double ----------------------------------------------------
set(DIMESH_FFTW_FOUND FALSE)
if(DIMESH_WITH_FFTW)
  find_path(DIMESH_FFTW_INCLUDE_DIR fftw3.h HINTS $ENV{FFTW_ROOT} "${dimesh_recorded_fftw}"
    PATH_SUFFIXES include)
  mark_as_advanced(DIMESH_FFTW_INCLUDE_DIR)
  dimesh_find_library(DIMESH_FFTW_LIBRARY "${dimesh_recorded_fftw_library}" "$ENV{FFTW_ROOT}" fftw3)
  dimesh_find_library(DIMESH_FFTWF_LIBRARY "${dimesh_recorded_fftwf_library}" "$ENV{FFTW_ROOT}" fftw3f)
  if(DIMESH_FFTW_INCLUDE_DIR AND DIMESH_FFTW_LIBRARY AND DIMESH_FFTWF_LIBRARY)
    set(DIMESH_FFTW_FOUND TRUE)
  elseif(NOT DIMESH_WITH_FFTW STREQUAL "AUTO")
    list(APPEND dimesh_missing
      "DIMESH_WITH_FFTW is ON, but FFTW was not found in both precisions; install it (Debian: libfftw3-dev) or choose AUTO or OFF")
  endif()
endif()

# --- zlib: reading compressed data files ---------------------------------------------------------
find_package(ZLIB QUIET)

# --- nlohmann's JSON: the headers of checkpoints -------------------------------------------------
find_package(nlohmann_json QUIET)

# --- the targets, once it is clear that all of them can be made ----------------------------------
set(visibility "")
if(CMAKE_CURRENT_SOURCE_DIR STREQUAL dimesh_SOURCE_DIR)
  set(visibility GLOBAL)  # a project that has dimesh as a sub-project links them, too
endif()
function(dimesh_dependency name include_dir library)  # [definition]
  add_library(dimesh::${name} INTERFACE IMPORTED ${visibility})
  set_target_properties(dimesh::${name} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${include_dir}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${include_dir}"
    INTERFACE_LINK_LIBRARIES "${library}"
    INTERFACE_COMPILE_DEFINITIONS "${ARGN}")
endfunction()
if(NOT dimesh_missing)
  dimesh_dependency(mpi "" MPI::MPI_CXX)
  if(kokkos_is_trilinos)
    dimesh_dependency(kokkos "${DIMESH_KOKKOS_INCLUDE_DIR}"
      "${DIMESH_KOKKOS_LIBRARY};${CMAKE_DL_LIBS}")
  elseif(DIMESH_CUBLAS_FOUND)
    dimesh_dependency(kokkos "" "Kokkos::kokkos;CUDA::cublas" DIMESH_WITH_CUBLAS=1)
  else()
    dimesh_dependency(kokkos "" Kokkos::kokkos)
  endif()
  set(options "$<$<CXX_COMPILER_ID:GNU,Clang,AppleClang,IntelLLVM>:-fopenmp-simd>")
  if(DIMESH_HIP)
    set(options "")  # clang must not be given it there
  elseif(DIMESH_NVCC)
    # (Functions of hosts in kernels are warnings otherwise, and give anything.)
    list(APPEND options --expt-relaxed-constexpr --extended-lambda -Werror=cross-execution-space-call)
  endif()
  set_target_properties(dimesh::kokkos PROPERTIES INTERFACE_COMPILE_OPTIONS "${options}")
  dimesh_dependency(hana "${DIMESH_HANA_INCLUDE_DIR}" "")
  if(DIMESH_ONEDNN_FOUND)
    dimesh_dependency(onednn "${DIMESH_ONEDNN_INCLUDE_DIR}" "${DIMESH_ONEDNN_LIBRARY}"
      DIMESH_WITH_ONEDNN=1)
  else()
    dimesh_dependency(onednn "" "")
  endif()
  if(DIMESH_CBLAS_FOUND)
    dimesh_dependency(cblas "${DIMESH_CBLAS_INCLUDE_DIR}" "${DIMESH_CBLAS_LIBRARY}"
      DIMESH_WITH_CBLAS=1)
  else()
    dimesh_dependency(cblas "" "")
  endif()
  if(DIMESH_FFTW_FOUND)
    dimesh_dependency(fftw "${DIMESH_FFTW_INCLUDE_DIR}"
      "${DIMESH_FFTWF_LIBRARY};${DIMESH_FFTW_LIBRARY}" DIMESH_WITH_FFTW=1)
  else()
    dimesh_dependency(fftw "" "" DIMESH_WITH_FFTW=0)
  endif()
  if(TARGET ZLIB::ZLIB)
    dimesh_dependency(zlib "" ZLIB::ZLIB)
  else()
    dimesh_dependency(zlib "" "")
  endif()
  if(TARGET nlohmann_json::nlohmann_json)
    dimesh_dependency(json "" nlohmann_json::nlohmann_json)
  else()
    dimesh_dependency(json "" "")
  endif()
endif()

endblock()
