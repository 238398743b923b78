# What every target of ours is compiled with.
add_library(quantloupe_options INTERFACE)
target_compile_options(quantloupe_options INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    $<$<BOOL:${QUANTLOUPE_WARNINGS_AS_ERRORS}>:-Werror>)
if(QUANTLOUPE_SANITIZE)
    target_compile_options(quantloupe_options INTERFACE -fsanitize=${QUANTLOUPE_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(quantloupe_options INTERFACE -fsanitize=${QUANTLOUPE_SANITIZE})
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
