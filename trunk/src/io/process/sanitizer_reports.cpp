#include "io/process/sanitizer_reports.hpp"

#ifdef LIVE_SANITIZE_LOG
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <unistd.h>
#endif

namespace live::io {

#ifdef LIVE_SANITIZE_LOG

void SanitizerReports::follow(int descriptor) {
    const char* const options = std::getenv("ASAN_OPTIONS");
    if (options != nullptr && std::string_view(options).find("log_path=") != std::string_view::npos)
        return;
    // The runtime remembers the number, so the next file must get the same one.
    if (copy_ >= 0) {
        static_cast<void>(::dup3(descriptor, copy_, O_CLOEXEC));
        return;
    }
    copy_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy_ >= 0)
        __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<std::intptr_t>(copy_)));
}

#else

void SanitizerReports::follow(int) {}

#endif

}  // namespace live::io
