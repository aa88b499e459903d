# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the headers, the CMake package and the pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(dimesh_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/dimesh")
install(DIRECTORY include/dimesh DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
install(TARGETS dimesh EXPORT dimesh)
install(EXPORT dimesh FILE dimesh-targets.cmake NAMESPACE dimesh:: DESTINATION "${dimesh_cmake_dir}")

configure_package_config_file(cmake/dimesh-config.cmake.in dimesh-config.cmake
  INSTALL_DESTINATION "${dimesh_cmake_dir}")
write_basic_package_version_file(dimesh-config-version.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES cmake/dimesh_dependencies.cmake
  "${CMAKE_CURRENT_BINARY_DIR}/dimesh-config.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/dimesh-config-version.cmake"
  DESTINATION "${dimesh_cmake_dir}")

# The pkg-config file names what was found here; directories the compiler searches anyway are left out.
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(dimesh_pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
else()
  set(dimesh_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
file(RELATIVE_PATH dimesh_pc_up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" dimesh_pc_up "${dimesh_pc_up}")
set(dimesh_pc_cflags "")
set(dimesh_pc_libs "")
macro(dimesh_pc_add target library definition)
  get_target_property(dimesh_pc_dirs ${target} INTERFACE_INCLUDE_DIRECTORIES)
  foreach(dir IN LISTS dimesh_pc_dirs)
    if(dir AND NOT dir IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
      string(APPEND dimesh_pc_cflags " -isystem ${dir}")
    endif()
  endforeach()
  if(NOT "${definition}" STREQUAL "")
    string(APPEND dimesh_pc_cflags " -D${definition}")
  endif()
  if(NOT "${library}" STREQUAL "")
    string(APPEND dimesh_pc_libs " ${library}")
  endif()
endmacro()
if(NOT DIMESH_KOKKOS_LIBRARY)
  string(APPEND dimesh_pc_libs " -lkokkoscore")
else()
  dimesh_pc_add(dimesh::kokkos "${DIMESH_KOKKOS_LIBRARY}" "")
endif()
dimesh_pc_add(dimesh::hana "" "")
if(DIMESH_ONEDNN_FOUND)
  dimesh_pc_add(dimesh::onednn "${DIMESH_ONEDNN_LIBRARY}" DIMESH_WITH_ONEDNN=1)
endif()
if(DIMESH_CBLAS_FOUND)
  dimesh_pc_add(dimesh::cblas "${DIMESH_CBLAS_LIBRARY}" DIMESH_WITH_CBLAS=1)
endif()
configure_file(cmake/dimesh.pc.in dimesh.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/dimesh.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
