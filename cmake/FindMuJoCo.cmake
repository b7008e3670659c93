# find_package(MuJoCo): the target mujoco::mujoco, MuJoCo_VERSION, MuJoCo_LIBRARY and MuJoCo_LICENSE (where it has one).
#
# A wheel or a release of MuJoCo has its library and its headers, but no package for CMake. Looked at, in this order:
#   MuJoCo_ROOT (CMake or environment): a release, a folder that a wheel was unpacked to, or its mujoco/ folder
#   .deps: what scripts/fetch_mujoco.sh fetched
#   the package `mujoco` of python3
#   the system
# Each minor version of MuJoCo changes structs that we read, so that one is pinned (cmake/mujoco.txt). MuJoCo_ROOT must have it;
# where nobody asked us to look, other versions are passed over.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/mujoco.txt mujoco_pinned REGEX "^mujoco-core==")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" mujoco_pinned "${mujoco_pinned}")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" MuJoCo_SERIES ${mujoco_pinned})

# The version that a header names: 4000000 is 4.0.0; older ones have three digits.
function(cgpo_mujoco_version header result)
  file(STRINGS ${header} line REGEX "^#define +mjVERSION_HEADER +[0-9]+" LIMIT_COUNT 1)
  string(REGEX MATCH "[0-9]+$" number "${line}")
  set(version "unknown")
  if(number GREATER 999999)
    math(EXPR major "${number} / 1000000")
    math(EXPR minor "${number} / 1000 % 1000")
    math(EXPR patch "${number} % 1000")
    set(version ${major}.${minor}.${patch})
  elseif(number MATCHES "^(.)(.)(.)$")
    set(version ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3})
  endif()
  set(${result} ${version} PARENT_SCOPE)
endfunction()

# Sets MuJoCo_VERSION, MuJoCo_INCLUDE_DIR and MuJoCo_LIBRARY if this folder has a MuJoCo of the series; mujoco_seen grows by
# any other.
macro(cgpo_look_for_mujoco where)
  foreach(mujoco_folder ${where} ${where}/mujoco)
    if(MuJoCo_VERSION OR NOT EXISTS ${mujoco_folder}/include/mujoco/mujoco.h)
      continue()
    endif()
    cgpo_mujoco_version(${mujoco_folder}/include/mujoco/mujoco.h mujoco_version)
    file(GLOB mujoco_library ${mujoco_folder}/libmujoco.so.${mujoco_version} ${mujoco_folder}/lib/libmujoco.so.${mujoco_version}
         ${mujoco_folder}/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libmujoco.so.${mujoco_version})
    if(NOT mujoco_version MATCHES "^${MuJoCo_SERIES}\\.")
      string(APPEND mujoco_seen "; ${mujoco_folder} has ${mujoco_version}")
    elseif(NOT mujoco_library)
      string(APPEND mujoco_seen "; ${mujoco_folder} has headers, and no libmujoco.so.${mujoco_version}")
    else()
      list(GET mujoco_library 0 mujoco_library)
      set(MuJoCo_VERSION ${mujoco_version})
      set(MuJoCo_INCLUDE_DIR ${mujoco_folder}/include)
      set(MuJoCo_LIBRARY ${mujoco_library})
    endif()
  endforeach()
endmacro()

unset(MuJoCo_VERSION)
set(mujoco_seen)
set(mujoco_root ${MuJoCo_ROOT} $ENV{MuJoCo_ROOT})
if(mujoco_root)
  list(GET mujoco_root 0 mujoco_root)
  cmake_path(ABSOLUTE_PATH mujoco_root BASE_DIRECTORY ${CMAKE_BINARY_DIR} NORMALIZE)
  cgpo_look_for_mujoco(${mujoco_root})
  if(NOT MuJoCo_VERSION AND NOT mujoco_seen)
    set(mujoco_seen "; ${mujoco_root} has no include/mujoco/mujoco.h")
  endif()
else()
  cgpo_look_for_mujoco(${CMAKE_CURRENT_LIST_DIR}/../.deps/mujoco-core-${mujoco_pinned})
  if(NOT MuJoCo_VERSION)
    find_program(MuJoCo_PYTHON python3)
    mark_as_advanced(MuJoCo_PYTHON)
    set(mujoco_package)
    if(MuJoCo_PYTHON)
      execute_process(
        COMMAND ${MuJoCo_PYTHON} -c
                "import importlib.util as u; s = u.find_spec('mujoco'); print((s and s.submodule_search_locations or [''])[0])"
        OUTPUT_VARIABLE mujoco_package ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    endif()
    foreach(mujoco_place ${mujoco_package} ${CMAKE_PREFIX_PATH} /usr/local /usr)
      cgpo_look_for_mujoco(${mujoco_place})
    endforeach()
  endif()
endif()

if(NOT MuJoCo_VERSION)
  set(MuJoCo_FOUND FALSE)
  if(MuJoCo_FIND_REQUIRED)
    message(FATAL_ERROR "MuJoCo ${MuJoCo_SERIES} is needed${mujoco_seen}: run scripts/fetch_mujoco.sh, or set MuJoCo_ROOT to a "
                        "folder with its library and headers")
  endif()
  return()
endif()
cmake_path(NORMAL_PATH MuJoCo_INCLUDE_DIR)
cmake_path(NORMAL_PATH MuJoCo_LIBRARY)
set(MuJoCo_FOUND TRUE)
if(NOT MuJoCo_FIND_QUIETLY)
  message(STATUS "MuJoCo ${MuJoCo_VERSION}: ${MuJoCo_LIBRARY}")
endif()
file(GLOB MuJoCo_LICENSE ${MuJoCo_INCLUDE_DIR}/../../mujoco_core-*.dist-info/licenses/LICENSE
     ${MuJoCo_INCLUDE_DIR}/../LICENSE)
if(NOT TARGET mujoco::mujoco)
  add_library(mujoco::mujoco SHARED IMPORTED GLOBAL)
  set_target_properties(mujoco::mujoco PROPERTIES IMPORTED_LOCATION ${MuJoCo_LIBRARY}
                        IMPORTED_SONAME libmujoco.so.${MuJoCo_VERSION})
  # A folder that the compiler searches anyway must not be named: that changes the order of the search.
  if(NOT MuJoCo_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    target_include_directories(mujoco::mujoco INTERFACE ${MuJoCo_INCLUDE_DIR})
  endif()
endif()
