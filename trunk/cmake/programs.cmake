# The programs made of the rooms: `srs` (the server) and, with LIVE_TESTS, `srs_utest` (every room's tests in one program) and `srs_tools`.
set(LIVE_OUTPUT "${CMAKE_BINARY_DIR}" CACHE PATH "Where the programs go; configure sets it to objs")
set(LIVE_UTEST OFF CACHE BOOL "Build srs_utest as part of `all`")
set(LIVE_CONFIGURE_OPTIONS "none (built without configure)" CACHE STRING "The resolved options, shown at start and by the API")
set(LIVE_CONFIGURE_USER "none" CACHE STRING "The options as the user gave them")
set(LIVE_BUILD_DATE "unknown" CACHE STRING "When configure ran")
set(LIVE_BUILD_UNAME "unknown" CACHE STRING "The machine that configured")

# Facts about this build as constants. Written when configure ran, not at each build: a date must not recompile anything.
configure_file(${CMAKE_SOURCE_DIR}/cmake/build_info.hpp.in ${CMAKE_BINARY_DIR}/generated/build_info.hpp @ONLY)
target_include_directories(live_flags INTERFACE ${CMAKE_BINARY_DIR}/generated)

add_executable(srs ${CMAKE_SOURCE_DIR}/src/app/main.cpp)
target_link_libraries(srs PRIVATE ${LIVE_ROOMS})
set_target_properties(srs PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${LIVE_OUTPUT})
# The product's own name for the program that guides call srs.
add_custom_command(TARGET srs POST_BUILD COMMAND ${CMAKE_COMMAND} -E create_symlink srs ${LIVE_OUTPUT}/millrace VERBATIM)

if(LIVE_TESTS)
    # It reads the shipped confs. __FILE__ does not say where they are: a compiler cache makes it relative.
    set_source_files_properties(${CMAKE_SOURCE_DIR}/src/settings/conf/sample_confs_test.cpp
        PROPERTIES COMPILE_DEFINITIONS "LIVE_TRUNK=\"${CMAKE_SOURCE_DIR}\"" SKIP_PRECOMPILE_HEADERS ON)
    add_executable(srs_utest ${LIVE_TEST_SOURCES})
    target_link_libraries(srs_utest PRIVATE ${LIVE_ROOMS} GTest::gtest GTest::gtest_main)
    live_test_program(srs_utest)
    set_target_properties(srs_utest PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${LIVE_OUTPUT})
    if(NOT LIVE_UTEST)
        set_target_properties(srs_utest PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()

    # The server with faults on purpose and leak checks (--simulator=on --valgrind=on), for test/tools: its own two objects come before
    # those of the rooms.
    add_executable(srs_tools EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/src/app/main.cpp ${live_fault_source} ${live_leak_source})
    target_compile_definitions(srs_tools PRIVATE LIVE_SIMULATOR=1 $<$<BOOL:${LIVE_VALGRIND_INCLUDE}>:LIVE_VALGRIND=1>)
    target_include_directories(srs_tools PRIVATE ${CMAKE_SOURCE_DIR}/test/tools)
    target_link_libraries(srs_tools PRIVATE ${LIVE_ROOMS})
endif()

if(LIVE_FUZZ)
    get_property(targets GLOBAL PROPERTY LIVE_FUZZ_TARGETS)
    add_custom_target(fuzzers DEPENDS ${targets})
endif()

# The load tools bring their own list.
add_subdirectory(src/bench)

# conf/full.conf and doc/config.md are written from the option rows; `make lint` reports stale ones.
add_executable(write_docs EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tools/generate_docs.cpp)
target_link_libraries(write_docs PRIVATE room_app)
add_custom_target(generate_docs COMMAND write_docs ${CMAKE_SOURCE_DIR} VERBATIM)

# The TLS pair that sample confs name; made once on each machine, never committed.
add_custom_target(certificate COMMAND ${CMAKE_SOURCE_DIR}/scripts/make-cert.sh VERBATIM)
add_dependencies(srs certificate)

# The pages and the player's libraries; a server without them still serves streams, so that nothing here fails a build.
add_custom_target(pages COMMAND ${CMAKE_SOURCE_DIR}/scripts/make-pages.sh ${LIVE_OUTPUT}/nginx/html VERBATIM)
add_dependencies(srs pages)
