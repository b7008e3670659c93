# cgpo_module(NAME SOURCES … LINKS …): one folder of src/ as one target, cgpo::NAME.
#
# Headers are included as "cgpo/NAME/file.hpp". Each target exports an include folder that holds nothing but a link
# to its own sources, so a folder that does not link another cannot include it: the link list is the rule, and the
# compiler enforces it. Every target is installed; which headers are is for cmake/Install.cmake to say.
include(GNUInstallDirs)
add_library(cgpo_options INTERFACE)
target_compile_options(cgpo_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion $<$<BOOL:${CGPO_WERROR}>:-Werror>
  # An expression has the same bits in every function and on every machine: fused operations are written, not guessed.
  -ffp-contract=off
  # sqrt and friends need not set errno; without this the compiler may not use vector instructions for them.
  -fno-math-errno
  # No code here looks at floating-point exception flags; with this, both sides of a select may be computed.
  -fno-trapping-math)
if(CGPO_SANITIZE)
  set(sanitizers address,undefined)
  if(CGPO_SANITIZE STREQUAL "thread")
    set(sanitizers thread)
  endif()
  target_compile_options(cgpo_options INTERFACE -fsanitize=${sanitizers} -fno-sanitize-recover=all
                         -fno-omit-frame-pointer)
  target_link_options(cgpo_options INTERFACE -fsanitize=${sanitizers})
endif()

# The folders whose readers are fuzzed: the fuzzer watches what they do, and sanitizers what they must not. The others are
# linked, and compiled as fast as can be.
set(CGPO_WATCHED base config kernel physics subproblem taskfile)
add_library(cgpo_watched INTERFACE)
if(CGPO_FUZZ)
  # toml++ 3.3 calls unreachable where it meets a letter beyond ASCII, and both ways on from there are right.
  target_compile_options(cgpo_watched INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=unreachable
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(cgpo_watched INTERFACE -fsanitize=fuzzer,address,undefined)
endif()

set(CGPO_X86 OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64" AND NOT CGPO_PORTABLE)
  set(CGPO_X86 ON)
endif()

function(cgpo_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  set(root ${PROJECT_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${root}/cgpo)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/cgpo/${name} SYMBOLIC)
  add_library(cgpo_${name} STATIC ${arg_SOURCES})
  add_library(cgpo::${name} ALIAS cgpo_${name})
  target_include_directories(cgpo_${name} PUBLIC $<BUILD_INTERFACE:${root}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(cgpo_${name} PUBLIC cxx_std_20)
  target_link_libraries(cgpo_${name} PUBLIC ${arg_LINKS} PRIVATE $<BUILD_INTERFACE:cgpo_options>)
  if(CGPO_FUZZ AND name IN_LIST CGPO_WATCHED)
    target_link_libraries(cgpo_${name} PRIVATE $<BUILD_INTERFACE:cgpo_watched>)
  elseif(CGPO_FUZZ)
    target_compile_options(cgpo_${name} PRIVATE -O0 -g0)
  endif()
  foreach(link ${arg_PRIVATE_LINKS})
    # Headers that only our sources include are of no interest to a user of the archive; libraries are.
    set(type)
    if(TARGET ${link})
      get_target_property(type ${link} TYPE)
    endif()
    if(type STREQUAL INTERFACE_LIBRARY)
      set(link $<BUILD_INTERFACE:${link}>)
    endif()
    target_link_libraries(cgpo_${name} PRIVATE ${link})
  endforeach()
  set_target_properties(cgpo_${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS cgpo_${name} EXPORT cgpoTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# cgpo_vector_sources(TARGET FILE [WIDTH bits]): compiles FILE once for every instruction set that it may meet at run time. FILE
# puts its code in namespace CGPO_ISA, which is baseline, avx2 or avx512; the caller picks one from the CPU. WIDTH is what AVX-512 code
# uses for vectors, 512 unless said.
function(cgpo_vector_sources target file)
  cmake_parse_arguments(arg "" "WIDTH" "" ${ARGN})
  if(NOT arg_WIDTH)
    set(arg_WIDTH 512)
  endif()
  set(isas baseline)
  if(CGPO_X86)
    list(APPEND isas avx2 avx512)
    target_compile_definitions(${target} PRIVATE CGPO_X86=1)
  endif()
  get_filename_component(stem ${file} NAME_WE)
  foreach(isa ${isas})
    add_library(${target}_${stem}_${isa} OBJECT ${file})
    target_link_libraries(${target}_${stem}_${isa} PRIVATE cgpo_options)
    target_include_directories(${target}_${stem}_${isa} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_compile_definitions(${target}_${stem}_${isa} PRIVATE CGPO_ISA=${isa})
    target_compile_options(${target}_${stem}_${isa} PRIVATE $<IF:$<BOOL:${CGPO_FUZZ}>,-O1,-O3> -Wno-psabi)
    if(isa STREQUAL avx2)
      target_compile_options(${target}_${stem}_${isa} PRIVATE -mavx2 -mfma)
    elseif(isa STREQUAL avx512)
      target_compile_options(${target}_${stem}_${isa} PRIVATE -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma
                             -mprefer-vector-width=${arg_WIDTH})
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_${stem}_${isa}>)
  endforeach()
endfunction()
