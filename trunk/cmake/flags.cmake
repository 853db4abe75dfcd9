# Flags of every target of ours: optimised, with frame pointers so that perf, gprof and the sanitizers see through fibers, and
# warnings as errors. `configure` sets the LIVE_* options; every other build folder (objs/asan, objs/fuzz, ...) sets only its own.
option(LIVE_SANITIZE_STATIC "Link the sanitizer runtime statically" OFF)
option(LIVE_SANITIZE_LOG "Sanitizer reports go to the server's log" OFF)
option(LIVE_GPROF "Compile and link for gprof" OFF)
option(LIVE_GPERF "Link tcmalloc" OFF)
option(LIVE_GCP "gperftools: CPU profile" OFF)
option(LIVE_GMP "gperftools: heap profile" OFF)
option(LIVE_GMC "gperftools: heap check at exit" OFF)
option(LIVE_GMD "gperftools: the debug allocator" OFF)
option(LIVE_SIMULATOR "Faults on purpose by /api/v1/fault" OFF)
option(LIVE_COVER "Compile and link for gcov" OFF)
option(LIVE_STATIC "Link statically" OFF)
option(LIVE_BACKTRACE "Export symbols so that a failed CHECK can name its callers" ON)
set(LIVE_EXTRA_FLAGS "" CACHE STRING "Appended to the compile flags of C and C++")
set(LIVE_EXTRA_LDFLAGS "" CACHE STRING "Appended to the link flags")

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
# The flavours that only run tests are built with less of both, in half the time.
set(LIVE_OPTIMISE "-O2 -g" CACHE STRING "Optimisation and debug information")
set(CMAKE_C_FLAGS_RELEASE "${LIVE_OPTIMISE} ${LIVE_EXTRA_FLAGS}")
set(CMAKE_CXX_FLAGS_RELEASE "${LIVE_OPTIMISE} ${LIVE_EXTRA_FLAGS}")
set(LIVE_LOG_FLOOR "" CACHE STRING "Least LogLevel whose log lines are compiled in; empty: all")

separate_arguments(live_extra_flags UNIX_COMMAND "${LIVE_EXTRA_FLAGS}")
separate_arguments(live_extra_ldflags UNIX_COMMAND "${LIVE_EXTRA_LDFLAGS}")

add_library(live_flags INTERFACE)
target_include_directories(live_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(live_flags INTERFACE
    -fno-omit-frame-pointer -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)

# A fiber's stack is small and fixed; sanitizers, gcov and -O0 blow frames up, so the limit holds for plain builds.
if(NOT (LIVE_SANITIZE OR LIVE_FUZZ OR LIVE_COVER OR LIVE_GPROF OR LIVE_EXTRA_FLAGS))
    target_compile_options(live_flags INTERFACE -Wframe-larger-than=8192)
endif()

if(LIVE_SANITIZE)
    # Recoverable: the user's ASAN_OPTIONS=halt_on_error=0 has an effect only then. The default of the tests is to halt.
    set(sanitize -fsanitize=address,undefined -fsanitize-recover=address -fno-sanitize-recover=undefined)
    if(LIVE_SANITIZE_STATIC AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_link_options(live_flags INTERFACE -static-libasan -static-libubsan)
    endif()
    if(LIVE_SANITIZE_LOG)
        target_compile_definitions(live_flags INTERFACE LIVE_SANITIZE_LOG=1)
    endif()
elseif(LIVE_FUZZ)
    set(sanitize -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined)
endif()
if(sanitize)
    # Instrumented code defeats GCC's flow analysis: it then warns inside libstdc++. Plain builds keep the warning.
    target_compile_options(live_flags INTERFACE ${sanitize} $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(live_flags INTERFACE ${sanitize})
endif()

if(LIVE_VALGRIND)
    target_compile_definitions(live_flags INTERFACE LIVE_VALGRIND=1)
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

# What only the rooms io, api and main ask about: the other objects are the same in all these flavours.
set(live_tool_definitions "")
foreach(part GPERF GCP GMP GMC GMD SIMULATOR)
    if(LIVE_${part})
        list(APPEND live_tool_definitions LIVE_${part}=1)
    endif()
endforeach()
if(LIVE_SIMULATOR)
    target_include_directories(live_flags INTERFACE ${CMAKE_SOURCE_DIR}/test/tools)
endif()
if(LIVE_GPERF)
    target_compile_options(live_flags INTERFACE
        -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free)
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
    target_link_options(live_flags INTERFACE -rdynamic)
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
