# Runs in CPack before the package is closed: changes the installed files to what Debian expects.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
set(doc ${root}/doc/quantloupe)
file(RENAME ${root}/zsh/site-functions ${root}/zsh/vendor-completions)

if(CPACK_PACKAGE_NAME STREQUAL "quantloupe-mpi")  # needs quantloupe, which has the documents
    file(MAKE_DIRECTORY ${root}/doc)
    file(CREATE_LINK quantloupe ${root}/doc/quantloupe-mpi SYMBOLIC)
    execute_process(COMMAND gzip -9n ${root}/man/man1/quantloupe-mpi.1 COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND chmod -R u=rwX,go=rX ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr COMMAND_ERROR_IS_FATAL ANY)
    return()
endif()

# Debian has the text of the license, and its own format for who owns what.
file(REMOVE ${doc}/LICENSE)
file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/copyright ${doc}/copyright)

if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
    message(FATAL_ERROR "SOURCE_DATE_EPOCH is not set: build the package with packaging/deb")
endif()
execute_process(COMMAND date -R -u -d @$ENV{SOURCE_DATE_EPOCH} OUTPUT_VARIABLE date
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${doc}/changelog.Debian
"quantloupe (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Package of this version. CHANGELOG.md lists the changes.

 -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}
")
file(GLOB compressed ${root}/man/man1/*.1)
execute_process(COMMAND gzip -9n ${compressed} ${doc}/changelog ${doc}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
# Permissions must not depend on the umask of who builds the package.
execute_process(COMMAND chmod -R u=rwX,go=rX ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr COMMAND_ERROR_IS_FATAL ANY)
