# What `cmake --install BUILD --prefix FOLDER` adds to the archives of the modules (cgpo_module installs those): the headers
# for programs of one's own, and the package that find_package(cgpo) finds.

# What such a program includes: tasks, robots and simulators of its own; runs, policies and their evaluation; the command
# line. What these include is installed with them, and nothing else.
set(CGPO_USER_HEADERS
  tasks/task.hpp tasks/registry.hpp tasks/outside/environment.hpp tasks/robots/robot.hpp
  tasks/robots/simulated.hpp algorithms/registry.hpp config/configuration.hpp run/open_run.hpp run/trained_policy.hpp
  judge/evaluate_policy.hpp export/export.hpp cli/command_line.hpp)
set(open ${CGPO_USER_HEADERS})
set(headers)
while(open)
  list(POP_FRONT open header)
  if(header IN_LIST headers)
    continue()
  endif()
  list(APPEND headers ${header})
  file(STRINGS ${PROJECT_SOURCE_DIR}/src/${header} first LIMIT_COUNT 1)
  if(first MATCHES "^// Private to this folder")
    message(FATAL_ERROR "${header} is private to its folder, but a header that is installed includes it")
  endif()
  file(STRINGS ${PROJECT_SOURCE_DIR}/src/${header} lines REGEX "^#include \"cgpo/")
  list(TRANSFORM lines REPLACE "^#include \"cgpo/([^\"]*)\".*$" "\\1")
  list(APPEND open ${lines})
endwhile()
list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE header_files)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header_files})  # the list follows from what they include
foreach(header ${headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cgpo/${folder})
endforeach()

# MuJoCo's library goes with us: programs look for it beside them, and where ours came from may be a folder of the build.
install(FILES ${MuJoCo_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(MuJoCo_LICENSE)
  list(GET MuJoCo_LICENSE 0 license)
  install(FILES ${license} DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.mujoco)
endif()
cmake_path(GET MuJoCo_LIBRARY FILENAME CGPO_MUJOCO_FILE)

include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/cgpo)

install(EXPORT cgpoTargets NAMESPACE cgpo:: DESTINATION ${package})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/cgpoConfig.cmake.in ${PROJECT_BINARY_DIR}/cgpoConfig.cmake
                              INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_LIBDIR
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before version 1 each minor version may break what was built on the one before.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cgpoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cgpoConfig.cmake ${PROJECT_BINARY_DIR}/cgpoConfigVersion.cmake
        DESTINATION ${package})
install(FILES ${PROJECT_SOURCE_DIR}/docs/guide/your-own-task.md ${PROJECT_SOURCE_DIR}/docs/guide/task-files.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
