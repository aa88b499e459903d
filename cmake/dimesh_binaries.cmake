# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How tests, examples and benchmarks are compiled and run; users of the library never see this.
#
#   dimesh::own            what every binary of this project links: the library, warnings, tuning
#   dimesh::own_compiled   the same, and the library's compiled part: most of them link this
#   dimesh_environment     list of NAME=VALUE, the environment in which MPI programs run
#   dimesh_mpirun(<out> <ranks>)   -> the command that starts a program on so many ranks

add_library(dimesh_own INTERFACE)
add_library(dimesh::own ALIAS dimesh_own)
target_link_libraries(dimesh_own INTERFACE dimesh::dimesh dimesh::zlib dimesh::json)
target_compile_options(dimesh_own INTERFACE -Wall -Wextra)
if(DIMESH_NATIVE)
  target_compile_options(dimesh_own INTERFACE -march=native)
endif()
if(DIMESH_SANITIZE)
  target_compile_options(dimesh_own INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1)
  target_link_options(dimesh_own INTERFACE -fsanitize=address,undefined)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 dies in this pass on kernels with sanitizers after a precompiled header.
    target_compile_options(dimesh_own INTERFACE -fno-ipa-cp)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The first so that ccache sees through it; the second because g++ collects its garbage every 100 MB
  # otherwise, a seventh of the time; the third because each std::move is a function without optimisation.
  target_compile_options(dimesh_own INTERFACE -fpch-preprocess --param=ggc-min-heapsize=1000000)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
    target_compile_options(dimesh_own INTERFACE -ffold-simple-inlines)
  endif()
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # libstdc++ 12 warns about its own std::string operator+ under -O2.
    target_compile_options(dimesh_own INTERFACE -Wno-restrict -Wno-stringop-overflow
      -Wno-array-bounds)
  endif()
endif()

# Half a second less for each of four hundred programs.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold DIMESH_HAS_GOLD)
mark_as_advanced(DIMESH_HAS_GOLD)
if(DIMESH_HAS_GOLD)
  target_link_options(dimesh_own INTERFACE
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:DIMESH_SMALL>>>:-fuse-ld=gold>)
endif()
# Programs with the property DIMESH_SMALL are linked by the compiler's own linker, which merges more, and
# notes each address that a loader is to mend in some bits where gold takes 24 bytes. The loader must know
# that, and glibc says so by its version.
include(CheckCXXSourceCompiles)
include(CMakePushCheckState)
cmake_push_check_state()
list(APPEND CMAKE_REQUIRED_LINK_OPTIONS -Wl,-z,pack-relative-relocs)
check_cxx_source_compiles("#include <cstddef>
#if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 36)
#error \"unknown to the loader\"
#endif
int main() {}" DIMESH_PACKS_RELOCATIONS FAIL_REGEX "pack-relative-relocs")
cmake_pop_check_state()
if(DIMESH_PACKS_RELOCATIONS)
  target_link_options(dimesh_own INTERFACE
    $<$<BOOL:$<TARGET_PROPERTY:DIMESH_SMALL>>:LINKER:-z,pack-relative-relocs>)
endif()

set(kind STATIC)
if(DIMESH_SANITIZE)
  set(kind SHARED)  # 30 MB, which need not be in each of a hundred programs
endif()
add_library(dimesh_own_part ${kind} EXCLUDE_FROM_ALL ${dimesh_compiled_sources})
target_link_libraries(dimesh_own_part PRIVATE dimesh_own)
target_compile_definitions(dimesh_own_part PRIVATE DIMESH_COMPILED=2)
target_compile_options(dimesh_own_part PRIVATE -ffunction-sections -fdata-sections)
add_library(dimesh_own_compiled INTERFACE)
add_library(dimesh::own_compiled ALIAS dimesh_own_compiled)
target_link_libraries(dimesh_own_compiled INTERFACE dimesh_own_part dimesh_own)
target_compile_definitions(dimesh_own_compiled INTERFACE DIMESH_COMPILED=1 ${dimesh_compiled_files})
if(NOT APPLE)
  target_link_options(dimesh_own_compiled INTERFACE LINKER:--gc-sections)  # a program holds what it calls
endif()

set(DIMESH_TEST_THREADS 1 CACHE STRING "Threads a rank in tests, where Kokkos has them")
# One rank a core, no pinning (more ranks than cores is normal here), local libraries on one thread
# (and waiting threads off the processor) and free to pick the kernels of this processor. Open MPI is told
# what it picks on one machine in any case: it looks for fast networks for 0.2 s of each start otherwise.
set(dimesh_environment
  OMP_NUM_THREADS=${DIMESH_TEST_THREADS}
  OMP_WAIT_POLICY=passive
  OMP_PROC_BIND=false
  OPENBLAS_NUM_THREADS=1
  OMPI_ALLOW_RUN_AS_ROOT=1
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_pml=ob1
  OMPI_MCA_btl_vader_single_copy_mechanism=none
  UCX_MEM_EVENTS=no
  "ASAN_OPTIONS=detect_leaks=0"
  "UBSAN_OPTIONS=print_stacktrace=1")
set(dimesh_environment_modification
  OPENBLAS_CORETYPE=unset: OPENBLAS_L2_SIZE=unset:)

function(dimesh_mpirun result ranks)
  set(${result} "${MPIEXEC_EXECUTABLE}" "${MPIEXEC_NUMPROC_FLAG}" "${ranks}" PARENT_SCOPE)
endfunction()

# Reads the settings in the opening comments of a source file: `// ranks: 1 2 3 4` -> "1;2;3;4".
function(dimesh_read_setting result file key default)
  file(STRINGS "${file}" lines LIMIT_COUNT 20 REGEX "^// ${key}:")
  set(value "${default}")
  if(lines)
    list(GET lines 0 line)
    string(REGEX REPLACE "^// ${key}:[ ]*" "" value "${line}")
    string(STRIP "${value}" value)
  endif()
  set(${result} "${value}" PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
endfunction()
