# What every target of ours is compiled with.
add_library(quantloupe_options INTERFACE)
target_compile_options(quantloupe_options INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    $<$<BOOL:${QUANTLOUPE_WARNINGS_AS_ERRORS}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 reports both for correct code that joins strings (GCC's bug 105329), depending on what it inlines.
    target_compile_options(quantloupe_options INTERFACE -Wno-restrict -Wno-stringop-overflow)
endif()
if(QUANTLOUPE_SANITIZE)
    # Without the checks of every access to a member: the address sanitizer finds what they would find, and the tests
    # need a fraction of the time.
    target_compile_options(quantloupe_options INTERFACE -fsanitize=${QUANTLOUPE_SANITIZE} -fno-omit-frame-pointer
        -fno-sanitize=null,alignment,object-size,pointer-overflow,vptr)
    target_link_options(quantloupe_options INTERFACE -fsanitize=${QUANTLOUPE_SANITIZE})
endif()
if(QUANTLOUPE_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "QUANTLOUPE_FUZZ needs Clang, which has libFuzzer: use the preset fuzz")
    endif()
    target_compile_options(quantloupe_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
    # Precompiled headers are cached under these two conditions only (ccache's manual, PRECOMPILED HEADERS).
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
    endif()
endif()
