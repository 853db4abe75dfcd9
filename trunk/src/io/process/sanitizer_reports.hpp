// Redirects the reports of AddressSanitizer and the like into the server's log, in builds with configure --sanitizer-log=on. In
// all other builds this does nothing.
#pragma once

namespace live::io {

class SanitizerReports {
public:
    // Sends reports to the open file `descriptor` from now on, through a duplicate that stays open until the process ends,
    // because leaks are reported after main has returned. Call it again for a reopened file. ASAN_OPTIONS=log_path=... takes
    // precedence.
    void follow(int descriptor);

private:
    [[maybe_unused]] int copy_ = -1;
};

}  // namespace live::io
