#include "base/check.hpp"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <unistd.h>

namespace live {

namespace {

// Uses only write(2): the heap or the log may be what is broken.
void put(const char* text) {
    const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
    static_cast<void>(written);
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
    std::abort();
}

}  // namespace live
