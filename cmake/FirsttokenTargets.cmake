# Shared settings of every target, and the functions that make a room, a noun of the engine, and a test binary.

find_program(FIRSTTOKEN_CCACHE ccache)
if(FIRSTTOKEN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${FIRSTTOKEN_CCACHE})
endif()
find_package(Threads REQUIRED)

add_library(firsttoken_settings INTERFACE)
target_include_directories(firsttoken_settings INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(firsttoken_settings INTERFACE
    -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
    -ffp-contract=off)
# What GCC 12 says about buffers and uninitialised values in libstdc++'s own code, once -O3 has inlined it or a sanitizer
# has changed it, is wrong; the preset dev warns, and the sanitizers look for the real thing.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND (FIRSTTOKEN_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Release"))
    target_compile_options(firsttoken_settings INTERFACE
        -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-restrict)
endif()
if(FIRSTTOKEN_SANITIZE)
    target_compile_options(firsttoken_settings INTERFACE
        -fsanitize=${FIRSTTOKEN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(firsttoken_settings INTERFACE -fsanitize=${FIRSTTOKEN_SANITIZE})
endif()
target_link_libraries(firsttoken_settings INTERFACE Threads::Threads)

# firsttoken_add_room(NAME SOURCES … [PUBLIC …] [PRIVATE …]): one static library; third-party libraries are PRIVATE.
function(firsttoken_add_room name)
    cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC firsttoken_settings ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()

# firsttoken_add_tests(NAME SOURCES … [LIBRARIES …]): one test binary, registered with CTest; what it prints is kept
# in logs/NAME.log of the build folder.
function(firsttoken_add_tests name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
    add_executable(${name} ${ARG_SOURCES}
        ${PROJECT_SOURCE_DIR}/tests/support/test_main.cpp
        ${PROJECT_SOURCE_DIR}/tests/support/thread_sanitizer_options.cpp)
    set_target_properties(${name} PROPERTIES AUTOMOC ON)
    target_link_libraries(${name} PRIVATE firsttoken_settings ${ARG_LIBRARIES} Qt6::Test)
    target_precompile_headers(${name} PRIVATE <QtTest> <string> <vector>)
    target_compile_definitions(${name} PRIVATE FIRSTTOKEN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/support/run_logged.sh
        ${CMAKE_BINARY_DIR}/logs/${name}.log $<TARGET_FILE:${name}>)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "QT_QPA_PLATFORM=offscreen")
endfunction()
