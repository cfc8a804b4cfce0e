# What `make install` puts where: library, command, header, pkg-config and CMake package files, manual pages, completion.
include(CMakePackageConfigHelpers)

# All of them come from the command's own tables, the public header and docs/, so they cannot fall behind.
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/privet.bash DEPENDS privet_cmd
  COMMAND privet_cmd complete > ${CMAKE_BINARY_DIR}/privet.bash COMMENT "Writing privet.bash")
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/man/privet.1 DEPENDS privet_cmd
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
  COMMAND privet_cmd man ${CMAKE_BINARY_DIR}/man COMMENT "Writing the manual")
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/man/libprivet.3 DEPENDS include/privet.h tools/man_header.sh
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
  COMMAND sh ${CMAKE_SOURCE_DIR}/tools/man_header.sh ${CMAKE_SOURCE_DIR}/include/privet.h ${PROJECT_VERSION} > ${CMAKE_BINARY_DIR}/man/libprivet.3)
add_custom_target(privet_texts ALL DEPENDS ${CMAKE_BINARY_DIR}/privet.bash ${CMAKE_BINARY_DIR}/man/privet.1 ${CMAKE_BINARY_DIR}/man/libprivet.3)

install(TARGETS privet EXPORT privetTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS privet_static EXPORT privetStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS privet_cmd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES include/privet.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(part 1 3 5)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man${part} FILES_MATCHING PATTERN "*.${part}")
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/privet.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME privet)
install(FILES share/schema.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/privet)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# pkg-config: paths relative to the .pc file, so `cmake --install --prefix` elsewhere still fits.
file(RELATIVE_PATH PRIVET_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/privet.pc.in privet.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/privet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(PRIVET_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/privet)
# Apart: whoever links the archive needs its libraries too, whoever links the shared library does not.
install(EXPORT privetStaticTargets NAMESPACE privet:: DESTINATION ${PRIVET_CMAKE_DIR})
install(EXPORT privetTargets NAMESPACE privet:: DESTINATION ${PRIVET_CMAKE_DIR})
configure_package_config_file(cmake/privetConfig.cmake.in privetConfig.cmake INSTALL_DESTINATION ${PRIVET_CMAKE_DIR})
write_basic_package_version_file(privetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/privetConfig.cmake ${CMAKE_BINARY_DIR}/privetConfigVersion.cmake
        DESTINATION ${PRIVET_CMAKE_DIR})
