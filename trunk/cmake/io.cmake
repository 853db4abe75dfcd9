# Targets of the io room beyond live_room(): included by 3rdparty/st once every room is declared.

# A throw and a catch across a switch; everything else of ours is compiled without exceptions.
set(throwing ${CMAKE_SOURCE_DIR}/src/io/st/exception_switch_test.cpp)
set_property(SOURCE ${throwing} APPEND PROPERTY COMPILE_OPTIONS -fexceptions)
set_source_files_properties(${throwing} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

# Faults on purpose, for test/tools/coroutine_tools_test.sh: do valgrind and AddressSanitizer see them through fiber stacks?
add_executable(planted_faults EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/test/tools/planted_faults.cpp)
target_link_libraries(planted_faults PRIVATE room_io)
