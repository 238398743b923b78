# What "cmake --install" installs. All paths are relative to the prefix: an installation can be moved.
# Manual pages and completions, in folders as in a distribution's packages. The files are written by the program itself.
function(quantloupe_program_documents PROGRAM ROOT RESULT)
    set(documents)
    foreach(kind_and_file "man:man/man1/${PROGRAM}.1" "bash:bash-completion/completions/${PROGRAM}"
            "zsh:zsh/site-functions/_${PROGRAM}" "fish:fish/vendor_completions.d/${PROGRAM}.fish")
        string(REGEX REPLACE ":.*" "" kind "${kind_and_file}")
        string(REGEX REPLACE "^[a-z]*:" "" file "${kind_and_file}")
        set(output ${ROOT}/${file})
        cmake_path(GET output PARENT_PATH folder)
        file(MAKE_DIRECTORY ${folder})
        add_custom_command(OUTPUT ${output} DEPENDS ${PROGRAM} VERBATIM
            COMMAND $<TARGET_FILE:${PROGRAM}> --document ${kind} > ${output})
        list(APPEND documents ${output})
    endforeach()
    set(${RESULT} ${documents} PARENT_SCOPE)
endfunction()
quantloupe_program_documents(quantloupe ${CMAKE_BINARY_DIR}/documents window)
quantloupe_program_documents(quantloupe-cli ${CMAKE_BINARY_DIR}/documents cli)
set(documents ${window} ${cli})
if(TARGET quantloupe-mpi)
    quantloupe_program_documents(quantloupe-mpi ${CMAKE_BINARY_DIR}/documents-mpi mpi)
    list(APPEND documents ${mpi})
endif()
if(QUANTLOUPE_SANITIZE)
    add_custom_target(quantloupe_documents DEPENDS ${documents})
else()
    add_custom_target(quantloupe_documents ALL DEPENDS ${documents})
endif()

install(TARGETS quantloupe quantloupe-cli RUNTIME DESTINATION bin)
# The Python package, where Debian's Python looks for packages. It finds the library and the programs from there.
install(TARGETS quantloupe_python LIBRARY DESTINATION lib/quantloupe)
install(DIRECTORY python/quantloupe DESTINATION lib/python3/dist-packages
    FILES_MATCHING PATTERN "*.py" PATTERN py.typed PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ${CMAKE_BINARY_DIR}/documents/ DESTINATION share)
install(DIRECTORY resources/demo DESTINATION share/quantloupe)
install(DIRECTORY resources/translations DESTINATION share/quantloupe OPTIONAL FILES_MATCHING PATTERN "*.qm")

install(FILES resources/desktop/quantloupe.desktop DESTINATION share/applications)
install(FILES resources/desktop/quantloupe.xml DESTINATION share/mime/packages)
install(FILES resources/desktop/io.quantloupe.Quantloupe.metainfo.xml DESTINATION share/metainfo)
install(FILES resources/icons/quantloupe.svg DESTINATION share/icons/hicolor/scalable/apps)
foreach(size 16 24 32 48 64 128 256)
    install(FILES resources/icons/quantloupe-${size}.png OPTIONAL
        DESTINATION share/icons/hicolor/${size}x${size}/apps RENAME quantloupe.png)
endforeach()

# The engine as a C++ library, only by "cmake --install build/release --component development".
include(CMakePackageConfigHelpers)
set(development COMPONENT development EXCLUDE_FROM_ALL)
install(TARGETS quantloupe_engine EXPORT quantloupe ARCHIVE DESTINATION lib ${development})
install(EXPORT quantloupe NAMESPACE quantloupe:: FILE quantloupe-targets.cmake DESTINATION lib/cmake/quantloupe ${development})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/quantloupe-config-version.cmake COMPATIBILITY ExactVersion)
install(FILES cmake/quantloupe-config.cmake cmake/engine_dependencies.cmake ${CMAKE_BINARY_DIR}/quantloupe-config-version.cmake
    DESTINATION lib/cmake/quantloupe ${development})
install(DIRECTORY engine/ DESTINATION include/quantloupe ${development} FILES_MATCHING PATTERN "*.h")

# The program for clusters, only by "cmake --install build/release --component mpi": nothing else needs MPI.
if(TARGET quantloupe-mpi)
    install(TARGETS quantloupe-mpi RUNTIME DESTINATION bin COMPONENT mpi EXCLUDE_FROM_ALL)
    install(DIRECTORY ${CMAKE_BINARY_DIR}/documents-mpi/ DESTINATION share COMPONENT mpi EXCLUDE_FROM_ALL)
endif()

install(FILES README.md CHANGELOG.md SECURITY.md LICENSE DESTINATION share/doc/quantloupe)
install(DIRECTORY docs DESTINATION share/doc/quantloupe
    PATTERN how-to EXCLUDE PATTERN testing.md EXCLUDE PATTERN releasing.md EXCLUDE)
