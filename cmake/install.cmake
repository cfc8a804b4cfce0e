# What `make install` puts where: library, command, header, pkg-config and CMake package files, manual page, completion.
include(CMakePackageConfigHelpers)

# Both texts come from the command's own tables, so they cannot fall behind.
foreach(text "man:privet.1" "complete:privet.bash")
  string(REPLACE ":" ";" pair ${text})
  list(GET pair 0 verb)
  list(GET pair 1 file)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${file} DEPENDS privet_cmd
    COMMAND privet_cmd ${verb} > ${CMAKE_BINARY_DIR}/${file} COMMENT "Writing ${file}")
  list(APPEND PRIVET_TEXTS ${CMAKE_BINARY_DIR}/${file})
endforeach()
add_custom_target(privet_texts ALL DEPENDS ${PRIVET_TEXTS})

install(TARGETS privet EXPORT privetTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS privet_static EXPORT privetStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS privet_cmd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES include/privet.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_BINARY_DIR}/privet.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
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
