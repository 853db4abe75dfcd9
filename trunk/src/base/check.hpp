// CHECK asserts a condition that only a bug in this program can break. It aborts in every build, with the file, line and
// condition, and the callers: their mangled names if the program exports them (LIVE_BACKTRACE), otherwise addresses. It is never
// applied to peer input, which gets Errc::malformed instead.
#pragma once

namespace live {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace live

#define CHECK(condition) (__builtin_expect(!!(condition), 1) ? void() : ::live::check_failed(#condition, __FILE__, __LINE__))
