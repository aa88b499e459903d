# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A Kokkos package as Kokkos itself installs one with OpenMP, around the library of the machine's Trilinos.
# run.sh copies it into a folder with a space in its name, headers and library beside it.
if(NOT TARGET Kokkos::kokkos)
  add_library(Kokkos::kokkoscore SHARED IMPORTED)
  set_target_properties(Kokkos::kokkoscore PROPERTIES
    IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/libkokkoscore.so"
    INTERFACE_COMPILE_DEFINITIONS "$<$<COMPILE_LANGUAGE:CXX>:KOKKOS_DEPENDENCE>"
    INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:-fopenmp>"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/include"
    INTERFACE_LINK_OPTIONS "$<$<LINK_LANGUAGE:CXX>:-DKOKKOS_DEPENDENCE;-fopenmp>")
  add_library(Kokkos::kokkos INTERFACE IMPORTED)
  set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_LINK_LIBRARIES Kokkos::kokkoscore)
endif()
