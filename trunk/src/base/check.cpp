#include "base/check.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <execinfo.h>
#include <unistd.h>
#include <unwind.h>

namespace live {

namespace {

// Uses only write(2): the heap or the log may be what is broken.
void put(const char* text) {
    const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
    static_cast<void>(written);
}

struct Callers {
    std::array<void*, 64> addresses;
    int count = 0;
};

_Unwind_Reason_Code add_caller(_Unwind_Context* context, void* into) {
    Callers& callers = *static_cast<Callers*>(into);
    const auto returns_to = _Unwind_GetIP(context);
    if (returns_to == 0)
        return _URC_END_OF_STACK;
    // In the call, not after it: the call of a function that does not return may be the last instruction of its caller.
    callers.addresses[static_cast<std::size_t>(callers.count++)] = reinterpret_cast<void*>(returns_to - 1);
    return callers.count == static_cast<int>(callers.addresses.size()) ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// Allocates nothing, as backtrace(3) would.
void put_callers() {
    Callers callers;
    _Unwind_Backtrace(add_caller, &callers);
    ::backtrace_symbols_fd(callers.addresses.data(), callers.count, STDERR_FILENO);
}

}  // namespace

void check_failed(const char* condition, const char* file, int line) {
    char digits[16];
    char* at = digits + sizeof digits;
    *--at = '\0';
    do {
        *--at = static_cast<char>('0' + line % 10);
        line /= 10;
    } while (line > 0);
    for (const char* part : {"CHECK failed: ", condition, " at ", file, ":", static_cast<const char*>(at), "\n"})
        put(part);
    put_callers();
    std::abort();
}

}  // namespace live
