// ChildOptions: how a child process is started: see child_process.hpp.
#pragma once

#include <string>
#include <vector>

namespace live::io {

struct ChildOptions {
    // The program and its arguments. A name without a slash is looked up in PATH.
    std::vector<std::string> arguments;
    // Standard output and error are appended here; empty: discarded. Standard input is empty.
    std::string output_path{};
    // Standard error is appended here; empty: where standard output is.
    std::string error_path{};
    // The file to run, when it is not arguments[0].
    std::string program{};
    // Standard output and error are those of this process, and output_path is not used.
    bool inherits_output = false;
    // "NAME=value", besides the environment of this process.
    std::vector<std::string> environment{};
    // A descriptor that the child has as kPassedHandle; negative: none.
    int passed = -1;
    // An open folder that the child starts in; negative: that of this process.
    int folder = -1;
    // The kernel kills the child when this process ends, even if this process is killed. Only such a child gets `input`, `errors`
    // and `handles`, and `passed` and `folder` are not used.
    bool ends_with_us = false;
    // Its standard input; negative: empty.
    int input = -1;
    // Its standard error; negative: error_path.
    int errors = -1;
    // The child has them as kPassedHandle and the numbers that follow. It has no other descriptors of this process.
    std::vector<int> handles{};
};

inline constexpr int kPassedHandle = 3;

}  // namespace live::io
