// The pid file: the decimal pid without a newline, so that `kill $(cat objs/srs.pid)` works, locked for the life of the process
// so that a second instance is detected. The file stays when the process ends; the lock does not.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"

namespace live::supervisor {

class PidFile {
    struct Private {};

public:
    // To be called after daemonizing: the pid is this process's. Errc::conflict when another process holds the file, which is
    // left as it is (the process exits with code 1035); Errc::system when it cannot be written.
    static Result<std::unique_ptr<PidFile>> create(const std::string& path);

    // Takes over the file of the process that this one replaces. The lock belongs to the open file, so it stays. Call write()
    // later.
    static std::unique_ptr<PidFile> adopt(int file);
    // Writes this process's pid.
    Result<void> write();
    // The file's descriptor, for adopt().
    int native_handle() const { return file_; }

    PidFile(Private, int file) : file_(file) {}
    ~PidFile();
    PidFile(const PidFile&) = delete;
    PidFile& operator=(const PidFile&) = delete;

private:
    int file_;
};

}  // namespace live::supervisor
