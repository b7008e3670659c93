# What `cmake --install BUILD --prefix FOLDER` adds to the archives and headers of the modules (cgpo_module installs
# those): the package that find_package(cgpo) finds.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/cgpo)

install(EXPORT cgpoTargets NAMESPACE cgpo:: DESTINATION ${package})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/cgpoConfig.cmake.in ${PROJECT_BINARY_DIR}/cgpoConfig.cmake
                              INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before version 1 each minor version may break what was built on the one before.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cgpoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cgpoConfig.cmake ${PROJECT_BINARY_DIR}/cgpoConfigVersion.cmake
        DESTINATION ${package})
install(FILES ${PROJECT_SOURCE_DIR}/docs/guide/your-own-task.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
