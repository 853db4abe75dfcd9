# The third-party sources that we compile: where they are, and whether they are what we take them for.

# live_third_party(NAME FOLDER VERSION): fetches the source NAME and sets the variables to its folder and upstream version.
function(live_third_party name folder version)
    execute_process(
        COMMAND ${CMAKE_SOURCE_DIR}/3rdparty/fetch.sh ${name}
        OUTPUT_VARIABLE source OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "the source of ${name} is not there and could not be fetched; the lines above say why")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS PIN ${CMAKE_SOURCE_DIR}/3rdparty/fetch.sh)
    # .../PACKAGE-VERSION-HASH/source, where VERSION is UPSTREAM-REVISION.
    string(REGEX MATCH "/[^/-]+-([0-9][^/-]*)-[^/]*/source$" found "${source}")
    set(${folder} ${source} PARENT_SCOPE)
    set(${version} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

# live_check_third_party(NAME SOURCE ABOUT ARGUMENTS...): compiles a small program by these ARGUMENTS and runs it; status 0 is what it has
# to end with. Once for each source, compiler and ABOUT: the source's folder remembers.
function(live_check_third_party name source about)
    file(SHA256 ${CMAKE_CURRENT_SOURCE_DIR}/check.c check)
    string(SHA256 key "${check} ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION} ${CMAKE_SYSTEM_PROCESSOR} ${about}")
    string(SUBSTRING ${key} 0 16 key)
    if(EXISTS ${source}/.checked-${key} OR (CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR))
        return()
    endif()
    set(program ${CMAKE_CURRENT_BINARY_DIR}/check_${name})
    execute_process(COMMAND ${CMAKE_C_COMPILER} -O1 -w -o ${program} ${ARGN} RESULT_VARIABLE compiled ERROR_VARIABLE words)
    if(NOT compiled EQUAL 0)
        message(FATAL_ERROR "${source} does not compile:\n${words}")
    endif()
    execute_process(COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} ${program} RESULT_VARIABLE status OUTPUT_VARIABLE words ERROR_VARIABLE words
                    TIMEOUT 60)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${source} fails our test of it (${CMAKE_CURRENT_SOURCE_DIR}/check.c, ${status}): ${words}")
    endif()
    file(TOUCH ${source}/.checked-${key})
    message(STATUS "${name}: ${source} passes our test of it")
endfunction()
