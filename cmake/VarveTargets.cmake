# How the targets of Varve are made. Sources are globbed, so a new file in a layer's folder is picked up by
# the next build without editing CMake.

# --- Options of every target -------------------------------------------------------------------------------

# Compiler and linker flags that do not concern warnings; generated code gets these too.
add_library(varve_build_flags INTERFACE)
if(VARVE_SANITIZE)
  set(sanitize -fsanitize=${VARVE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(varve_build_flags INTERFACE ${sanitize})
  target_link_options(varve_build_flags INTERFACE ${sanitize})
endif()

# What every target of our own code is compiled with.
add_library(varve_options INTERFACE)
target_link_libraries(varve_options INTERFACE varve_build_flags)
target_include_directories(varve_options INTERFACE "${PROJECT_SOURCE_DIR}")
# Not -Wpedantic: __int128 is used.
target_compile_options(varve_options INTERFACE -Wall -Wextra -Wshadow -Werror
  # Designated initialisers leave out fields on purpose.
  -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms on std::string operations, depending on what is inlined: GCC bug 105651.
  target_compile_options(varve_options INTERFACE -Wno-restrict)
endif()
if(VARVE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC documents that instrumentation makes this warning unreliable.
  target_compile_options(varve_options INTERFACE -Wno-maybe-uninitialized)
endif()

# Builds all generated sources, for tools that read the code without compiling it (clang-tidy).
add_custom_target(varve_generated)

# --- Layers ------------------------------------------------------------------------------------------------

# varve_layer(<name> [LAYERS <layer>...] [LIBRARIES <target>...])
#
# Makes the library varve_<name> of all *.cc under the current folder (header-only if there are none), and
# varve_<name>_proto of all *.proto in it, whose generated header is included as "<name>/<file>.pb.h". Layers
# in LAYERS that have no sources yet are left out, and so is this one if it has none.
function(varve_layer name)
  cmake_parse_arguments(ARG "" "" "LAYERS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.h")
  file(GLOB protos CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.proto")
  if(NOT sources AND NOT headers AND NOT protos)
    return()
  endif()

  if(sources)
    add_library(varve_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(varve_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(varve_${name} ${scope} varve_options ${ARG_LIBRARIES})
  foreach(layer IN LISTS ARG_LAYERS)
    if(TARGET varve_${layer})
      target_link_libraries(varve_${name} ${scope} varve_${layer})
    endif()
  endforeach()
  if(protos)
    varve_proto_library(varve_${name}_proto ${protos})
    target_link_libraries(varve_${name} ${scope} varve_${name}_proto)
  endif()
endfunction()

# varve_proto_library(<target> <file.proto>...): files import each other by their path from the repository root.
function(varve_proto_library target)
  set(out "${PROJECT_BINARY_DIR}/generated")
  set(generated)
  foreach(proto IN LISTS ARGN)
    file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${proto}")
    string(REGEX REPLACE "\\.proto$" "" stem "${out}/${path}")
    add_custom_command(
      OUTPUT "${stem}.pb.cc" "${stem}.pb.h"
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${out}"
      COMMAND protobuf::protoc --cpp_out "${out}" -I "${PROJECT_SOURCE_DIR}" "${path}"
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
      DEPENDS ${ARGN}
      COMMENT "protoc ${path}"
      VERBATIM)
    list(APPEND generated "${stem}.pb.cc" "${stem}.pb.h")
  endforeach()
  add_library(${target} STATIC ${generated})
  target_compile_options(${target} PRIVATE -w)
  target_include_directories(${target} SYSTEM PUBLIC "${out}")
  target_link_libraries(${target} PUBLIC varve_build_flags protobuf::libprotobuf)
  add_custom_target(${target}_generated DEPENDS ${generated})
  add_dependencies(varve_generated ${target}_generated)
endfunction()

# --- Tests -------------------------------------------------------------------------------------------------

# varve_test(<name> <folder> <target>...)
#
# Makes one test program <name> of all *.cc in the folder, linked with the targets that exist, and registers
# each *_test.cc as a test of its own (tests/test_main.cc picks the cases of one file).
function(varve_test name folder)
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cc")
  file(GLOB tests CONFIGURE_DEPENDS "${folder}/*_test.cc")
  if(NOT tests)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE varve_options)
  # Of tests alone: a path in every compile line would keep compiler caches from serving two checkouts.
  target_compile_definitions(${name} PRIVATE VARVE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      target_link_libraries(${name} PRIVATE ${target})
    endif()
  endforeach()
  target_link_libraries(${name} PRIVATE varve_test_main GTest::gmock GTest::gtest)
  # The tests of one layer link that layer and run nothing else.
  if(TARGET varve AND NOT name MATCHES "^(base|mvcc|columnar|catalog)_test$")
    add_dependencies(${name} varve)
    target_compile_definitions(${name} PRIVATE VARVE_BINARY_PATH="$<TARGET_FILE:varve>")
  endif()
  foreach(test IN LISTS tests)
    file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${test}")
    string(REGEX REPLACE "\\.cc$" "" entry "${path}")
    add_test(NAME ${entry} COMMAND ${name} --test_file=${path})
    set_tests_properties(${entry} PROPERTIES TIMEOUT 900)
  endforeach()
endfunction()
