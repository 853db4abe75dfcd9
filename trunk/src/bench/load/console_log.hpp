// The log of a load program, on standard output: "[2024-05-06 07:08:09.123][3][trace] text", where 3 is the client's number; a
// warning or an error ends with " errno=11(text)".
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "base/log/log.hpp"

namespace live::bench {

class ConsoleLog final : public LogSink {
public:
    explicit ConsoleLog(std::FILE* out) : out_(out) {}

    LogLevel level() const override { return LogLevel::trace; }
    void write(LogLevel level, std::string_view id, std::string_view message, int errno_value) override;

private:
    std::FILE* out_;
};

// One line without its time, for tests: "[3][trace] text".
std::string log_text(LogLevel level, std::string_view id, std::string_view message, int errno_value);

}  // namespace live::bench
