// Where AddressSanitizer and its like write their reports: in builds with configure --sanitizer-log=on into the server's log, in
// all others wherever they do by themselves, and nothing happens here.
#pragma once

namespace live::io {

class SanitizerReports {
public:
    // From now on into the open file `descriptor`, by a copy that stays open to the end of the process: leaks are told when main
    // has returned. Call it again for a file that was opened anew. ASAN_OPTIONS=log_path=... wins.
    void follow(int descriptor);

private:
    [[maybe_unused]] int copy_ = -1;
};

}  // namespace live::io
