# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the headers, the CMake package and the pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(dimesh_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/dimesh")
install(DIRECTORY include/dimesh DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
install(TARGETS dimesh EXPORT dimesh INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(DIMESH_COMPILED)
  install(TARGETS dimesh_compiled EXPORT dimesh ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(EXPORT dimesh FILE dimesh-targets.cmake NAMESPACE dimesh:: DESTINATION "${dimesh_cmake_dir}")

# What was found here, for the defaults of the package.
foreach(name onednn cblas fftw)
  string(TOUPPER "DIMESH_${name}_FOUND" found)
  if(${found})
    set(dimesh_found_${name} ON)
  else()
    set(dimesh_found_${name} OFF)
  endif()
endforeach()
set(dimesh_found_kokkos_dir "${Kokkos_DIR}")
if(NOT Kokkos_DIR)
  set(dimesh_found_kokkos_dir "")
endif()
configure_package_config_file(cmake/dimesh-config.cmake.in dimesh-config.cmake
  INSTALL_DESTINATION "${dimesh_cmake_dir}")
set(dimesh_for_any_machine ARCH_INDEPENDENT)
if(DIMESH_COMPILED)
  set(dimesh_for_any_machine "")
endif()
write_basic_package_version_file(dimesh-config-version.cmake
  COMPATIBILITY SameMinorVersion ${dimesh_for_any_machine})
install(FILES cmake/dimesh_dependencies.cmake
  "${CMAKE_CURRENT_BINARY_DIR}/dimesh-config.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/dimesh-config-version.cmake"
  DESTINATION "${dimesh_cmake_dir}")

include(cmake/dimesh_pkg_config.cmake)
