# Flags of every target of ours: optimised, with frame pointers so that perf, gprof and the sanitizers see through fibers, and
# warnings. `configure` sets the LIVE_* options; every other build folder (objs/checked, ...) sets only its own.
option(LIVE_SANITIZE_STATIC "Link the sanitizer runtime statically" OFF)
option(LIVE_SANITIZE_LOG "Sanitizer reports go to the server's log" OFF)
option(LIVE_WERROR "Warnings are errors: for us and for CI, never on a user's compiler" OFF)
option(LIVE_GPROF "Compile and link for gprof" OFF)
option(LIVE_GPERF "Link tcmalloc" OFF)
option(LIVE_GCP "gperftools: CPU profile" OFF)
option(LIVE_GMP "gperftools: heap profile" OFF)
option(LIVE_GMC "gperftools: heap check at exit" OFF)
option(LIVE_GMD "gperftools: the debug allocator" OFF)
option(LIVE_SIMULATOR "Faults on purpose by /api/v1/fault" OFF)
option(LIVE_COVER "Compile and link for gcov" OFF)
option(LIVE_STATIC "Link statically" OFF)
option(LIVE_BACKTRACE "Export the names of functions so that a failed CHECK can name its callers" ON)
set(LIVE_EXTRA_FLAGS "" CACHE STRING "Appended to the compile flags of C and C++")
set(LIVE_EXTRA_LDFLAGS "" CACHE STRING "Appended to the link flags")

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
# For the flavours that only run tests: stack traces still name lines.
option(LIVE_QUICK_BUILD "Less optimisation and debug information" OFF)
if(LIVE_QUICK_BUILD)
    set(live_optimise "-O1 -g1")
elseif(LIVE_EXTRA_FLAGS MATCHES "-O[0g]")
    set(live_optimise "-O2 -g")
else()
    # Line tables, which profilers, stack traces and valgrind read, are a quarter cheaper to make than all variables are. A debugger
    # mostly looks at fibers and at the sessions in them: rooms.cmake gives these everything.
    set(live_optimise "-O2 -g1")
endif()
# Coverage is measured for each source separately.
if(LIVE_COVER)
    set(live_unite_default OFF)
else()
    set(live_unite_default ON)
endif()
option(LIVE_UNITE "Compile neighbours of one folder as one source, with common headers precompiled" ${live_unite_default})
set(CMAKE_C_FLAGS_RELEASE "${live_optimise} ${LIVE_EXTRA_FLAGS}")
set(CMAKE_CXX_FLAGS_RELEASE "${live_optimise} ${LIVE_EXTRA_FLAGS}")
set(LIVE_LOG_FLOOR "" CACHE STRING "Least LogLevel whose log lines are compiled in; empty: all")

separate_arguments(live_extra_flags UNIX_COMMAND "${LIVE_EXTRA_FLAGS}")
separate_arguments(live_extra_ldflags UNIX_COMMAND "${LIVE_EXTRA_LDFLAGS}")

# GCC's collector takes 6 to 12 % of its time. Where there is memory it runs less often: the largest units take 1.0 GB instead of
# 0.8.
cmake_host_system_information(RESULT live_memory_mb QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT live_cores QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR live_memory_mb "${live_memory_mb} / ${live_cores}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND live_memory_mb GREATER 2000)
    add_compile_options("SHELL:--param ggc-min-expand=300" "SHELL:--param ggc-min-heapsize=524288")
endif()

add_library(live_flags INTERFACE)
target_include_directories(live_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(live_flags INTERFACE
    -fno-omit-frame-pointer -Wall -Wextra -Wpedantic -Wshadow -Wconversion $<$<BOOL:${LIVE_WERROR}>:-Werror>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)

# GCC 13 and later, where they inline a string's operator+ deeply, see copies beyond the short string's own buffer that never happen
# (GCC bugs 105651, 105329). GCC 12 in CI keeps these warnings, and AddressSanitizer sees the real ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(live_flags INTERFACE -Wno-array-bounds -Wno-stringop-overread -Wno-stringop-overflow)
endif()

# A fiber's stack is small and fixed; sanitizers, gcov and -O0 blow frames up, so the limit holds for plain builds.
if(NOT (LIVE_SANITIZE OR LIVE_FUZZ OR LIVE_COVER OR LIVE_GPROF OR LIVE_EXTRA_FLAGS))
    target_compile_options(live_flags INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:LIVE_IS_TEST>>>:-Wframe-larger-than=8192>)
endif()

if(LIVE_SANITIZE OR LIVE_FUZZ)
    # Recoverable: the user's ASAN_OPTIONS=halt_on_error=0 has an effect only then. The default of the tests is to halt.
    set(sanitize -fsanitize=address,undefined -fsanitize-recover=address -fno-sanitize-recover=undefined)
    if(LIVE_SANITIZE_STATIC AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_link_options(live_flags INTERFACE -static-libasan -static-libubsan)
    endif()
    if(LIVE_FUZZ)
        # Instruments the rooms that have fuzz targets for libFuzzer. Without it a source compiles in four fifths of the time.
        list(APPEND sanitize $<$<BOOL:$<TARGET_PROPERTY:LIVE_IS_FUZZED>>:-fsanitize=fuzzer-no-link>)
    endif()
    # Instrumented code defeats GCC's flow analysis: it then warns inside libstdc++. Plain builds keep the warning.
    target_compile_options(live_flags INTERFACE ${sanitize} $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(live_flags INTERFACE ${sanitize})
    # It links some 70 programs, in a fifth of the time that GNU ld takes.
    find_program(LIVE_LLD ld.lld)
    if(LIVE_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        target_link_options(live_flags INTERFACE -fuse-ld=lld)
    endif()
endif()

if(LIVE_COVER)
    target_compile_options(live_flags INTERFACE --coverage -O0)
    target_link_options(live_flags INTERFACE --coverage)
endif()
if(LIVE_GPROF)
    # gprof maps addresses to symbols only when the program is not moved at start.
    target_compile_options(live_flags INTERFACE -pg -fno-pie)
    target_link_options(live_flags INTERFACE -pg -no-pie)
endif()

# Defined only for the files that use it: all other objects are the same in these flavours, and another flavour in the same folder
# compiles little.
function(live_define_for definition)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS ${definition}=1)
endfunction()
foreach(part GPERF GCP GMP GMC GMD)
    if(LIVE_${part})
        live_define_for(LIVE_${part} ${CMAKE_SOURCE_DIR}/src/app/memory/allocator.cpp ${CMAKE_SOURCE_DIR}/src/app/start/profiler.cpp)
    endif()
endforeach()
# The two sources that srs_tools has in another form, so that each is an object of its own.
set(live_fault_source ${CMAKE_SOURCE_DIR}/src/api/debug/fault_handler.cpp)
set(live_leak_source ${CMAKE_SOURCE_DIR}/src/io/process/leak_check.cpp)
set_source_files_properties(${live_fault_source} ${live_leak_source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(LIVE_SIMULATOR)
    live_define_for(LIVE_SIMULATOR ${live_fault_source})
    set_property(SOURCE ${live_fault_source} APPEND PROPERTY INCLUDE_DIRECTORIES ${CMAKE_SOURCE_DIR}/test/tools)
endif()
if(LIVE_VALGRIND)
    live_define_for(LIVE_VALGRIND ${live_leak_source})
endif()
if(LIVE_SANITIZE AND LIVE_SANITIZE_LOG)
    live_define_for(LIVE_SANITIZE_LOG ${CMAKE_SOURCE_DIR}/src/io/process/sanitizer_reports.cpp)
endif()
# How stacks are made and switched is known to several files of the room io.
set(live_io_definitions "")
if(LIVE_GMC)
    list(APPEND live_io_definitions LIVE_GMC=1)
endif()
# If valgrind is installed, every build registers its stacks with it: some instructions for each new one.
find_path(LIVE_VALGRIND_INCLUDE valgrind/valgrind.h)
if(LIVE_VALGRIND_INCLUDE)
    list(APPEND live_io_definitions LIVE_VALGRIND_STACKS=1)
endif()
# The quick flavours too, so that one with gperftools shares the objects of one without.
if(LIVE_GPERF OR LIVE_QUICK_BUILD)
    target_compile_options(live_flags INTERFACE
        -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free)
endif()
if(LIVE_GPERF)
    if(LIVE_GMD)
        set(live_tcmalloc tcmalloc_debug)
    elseif(LIVE_GCP OR LIVE_GMP OR LIVE_GMC)
        set(live_tcmalloc tcmalloc_and_profiler)
    else()
        set(live_tcmalloc tcmalloc)
    endif()
    # The library takes over by being there; a linker that drops libraries without a caller would undo that.
    target_link_options(live_flags INTERFACE -Wl,--push-state,--no-as-needed -l${live_tcmalloc} -Wl,--pop-state)
endif()

if(LIVE_BACKTRACE)
    target_link_options(live_flags INTERFACE -Wl,--dynamic-list=${CMAKE_SOURCE_DIR}/cmake/exported_names.list)
    live_define_for(LIVE_BACKTRACE ${CMAKE_SOURCE_DIR}/src/base/check_test.cpp)
endif()
if(LIVE_STATIC)
    target_link_options(live_flags INTERFACE -static)
endif()
if(NOT LIVE_LOG_FLOOR STREQUAL "")
    target_compile_definitions(live_flags INTERFACE LIVE_LOG_FLOOR=${LIVE_LOG_FLOOR})
endif()
target_compile_options(live_flags INTERFACE ${live_extra_flags})
target_link_options(live_flags INTERFACE ${live_extra_ldflags})

find_package(Threads REQUIRED)
