// FolderWatch: waits for changes of named files in a folder (inotify(7)).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/socket.hpp"

namespace live::io {

class FolderWatch {
    struct Private {};

public:
    // `names` are file names without a folder. Errc::denied, Errc::system.
    static Result<std::unique_ptr<FolderWatch>> open(const std::string& folder, std::vector<std::string> names);
    FolderWatch(Private, Socket socket, std::vector<std::string> names) : socket_(std::move(socket)), names_(std::move(names)) {}

    // Waits until one of the files has been created, replaced, or closed after a write. Returns at once for earlier changes that
    // no call has returned yet. Errc::timed_out, Errc::cancelled; Errc::closed when the folder is gone.
    Result<void> wait(Deadline deadline);

private:
    // Reads the pending events; true if one of them is about the files.
    Result<bool> read_events();

    Socket socket_;
    std::vector<std::string> names_;
};

}  // namespace live::io
