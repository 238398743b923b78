# The Debian package. packaging/deb builds it.
set(QUANTLOUPE_MAINTAINER "Quantloupe maintainers <quantloupe@example.org>" CACHE STRING
    "Name and address of who builds the Debian package")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME quantloupe)
set(CPACK_PACKAGE_VENDOR "Quantloupe maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tuning of the post-training quantization of ONNX models")
set(CPACK_PACKAGE_DESCRIPTION
"Quantloupe shows which layers of a neural network lose accuracy when the
network is quantized, and evaluates it again after every change of the
configuration. It writes quantized ONNX models and configurations for AMCT,
Quark, CLIKA ACE, AIMET, ONNX Runtime and other tools.
.
The package has the window (quantloupe), the command line (quantloupe-cli), the
Python package (import quantloupe) and a demo network with images.")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_SOURCE_DIR}/build/deb)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${QUANTLOUPE_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "shared-mime-info, hicolor-icon-theme")
# The Python package needs no version in particular, and numpy only for arrays. Debian 13 has Qt's SVG plugins, which the
# style sheet needs, in a package of their own.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3:any, libqt6svg6 (<< 6.7.2-5~) | qt6-svg-plugins")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-numpy, qt6-wayland")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/postinst ${CMAKE_SOURCE_DIR}/packaging/debian/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)  # whatever the umask was at the checkout
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/packaging/debian/finish.cmake)
include(CPack)

# The package quantloupe-mpi: what differs from the settings above.
if(TARGET quantloupe-mpi)
    file(WRITE ${CMAKE_BINARY_DIR}/CPackMpi.cmake
"include(\"${CMAKE_BINARY_DIR}/CPackConfig.cmake\")
set(CPACK_PACKAGE_NAME quantloupe-mpi)
set(CPACK_DEBIAN_PACKAGE_NAME quantloupe-mpi)
set(CPACK_INSTALL_CMAKE_PROJECTS \"${CMAKE_BINARY_DIR};quantloupe;mpi;/\")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY \"tuning of the quantization of ONNX models on several machines\")
set(CPACK_PACKAGE_DESCRIPTION
\"The program quantloupe-mpi runs evaluations and searches of quantloupe-cli on
the machines of a cluster, with Open MPI.\")
set(CPACK_DEBIAN_PACKAGE_DEPENDS
    \"quantloupe (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), openmpi-bin\")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS \"\")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS \"slurm-client\")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA \"\")
")
endif()
