// A Log for tests of code that requires one.
#pragma once

#include "base/log/log.hpp"

namespace live {

class NoLog final : public LogSink {
public:
    LogLevel level() const override { return LogLevel::error; }
    void write(LogLevel, std::string_view, std::string_view, int) override {}
};

}  // namespace live
