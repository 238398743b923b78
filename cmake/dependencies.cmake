# What the programs need besides the engine. All from Debian 12; packaging/dependencies.txt lists the packages.
include(cmake/engine_dependencies.cmake)
find_package(CLI11 REQUIRED)
find_package(Qt6 6.4 REQUIRED COMPONENTS Core DBus Gui Widgets Svg Test)
