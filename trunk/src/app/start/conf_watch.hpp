// ConfWatch: requests a reload, as an operator does by SIGHUP, when the conf file changes (inotify_auto_reload). In a volume of
// Kubernetes the link "..data" beside the file changes instead.
#pragma once

#include <string>

#include "base/log/log.hpp"
#include "base/time.hpp"
#include "io/fibers/scope.hpp"
#include "io/files/folder_watch.hpp"

namespace live::app {

class ConfWatch {
public:
    // After the last change: a program may write in several steps, and an operator may reload without this.
    static constexpr std::chrono::seconds kSettle{1};
    // At most one reload per kPause.
    static constexpr std::chrono::seconds kPause{3};

    // Without a file it does nothing; a folder that cannot be watched costs a log line.
    ConfWatch(const std::string& conf_file, Log log);
    ~ConfWatch();
    ConfWatch(const ConfWatch&) = delete;
    ConfWatch& operator=(const ConfWatch&) = delete;

    // A reload begins to read the file now: earlier changes need no other one.
    void note_reload();

private:
    void run(io::Deadline deadline);

    const Log log_;
    const std::string conf_file_;
    std::unique_ptr<io::FolderWatch> folder_;
    TimePoint reloaded_at_{};
    io::Scope fiber_{"conf watch"};
};

}  // namespace live::app
