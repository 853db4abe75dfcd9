# Flags of every target of ours: optimised, with frame pointers so that perf, gprof and the sanitizers see through fibers, and
# warnings as errors.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_RELEASE "-O2")

add_library(live_flags INTERFACE)
target_include_directories(live_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(live_flags INTERFACE
    -g -fno-omit-frame-pointer -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
# A fiber's stack is small and fixed; sanitizers blow frames up, so the limit holds for plain builds.
if(LIVE_SANITIZE)
    target_compile_options(live_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined)
    target_link_options(live_flags INTERFACE -fsanitize=address,undefined)
elseif(NOT LIVE_FUZZ)
    target_compile_options(live_flags INTERFACE -Wframe-larger-than=8192)
endif()
if(LIVE_FUZZ)
    target_compile_options(live_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined)
    target_link_options(live_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined)
endif()
if(LIVE_VALGRIND)
    target_compile_definitions(live_flags INTERFACE LIVE_VALGRIND=1)
endif()

find_package(Threads REQUIRED)
