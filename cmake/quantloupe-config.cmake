# find_package(quantloupe) defines quantloupe::engine, a static library.
include(${CMAKE_CURRENT_LIST_DIR}/engine_dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/quantloupe-targets.cmake)
