// The source location where an error was created: std::source_location where the compiler has it. clang 14 with libstdc++ lacks
// it and gets the same four members from compiler builtins.
#pragma once

#include <version>

#ifdef __cpp_lib_source_location
#include <source_location>

namespace live {
using SourceLocation = std::source_location;
}  // namespace live
#else
#include <cstdint>

namespace live {

class SourceLocation {
public:
    static constexpr SourceLocation current(const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                                            std::uint_least32_t line = __builtin_LINE()) {
        SourceLocation where;
        where.file_ = file;
        where.function_ = function;
        where.line_ = line;
        return where;
    }
    constexpr const char* file_name() const { return file_; }
    constexpr const char* function_name() const { return function_; }
    constexpr std::uint_least32_t line() const { return line_; }
    constexpr std::uint_least32_t column() const { return 0; }

private:
    const char* file_ = "";
    const char* function_ = "";
    std::uint_least32_t line_ = 0;
};

}  // namespace live
#endif
