// AccessLog: appends a line of JSON to a file of its own for each client that has left a stream or was refused. Lines wait in
// memory for at most as long as flush() is not called, and go out together, so that ten thousand players which leave at once cost
// some hundred writes. A file that cannot be opened or written is a warning and lost lines, never anybody's end. It rotates
// nothing: a rotation program moves the file and asks for reopen().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "io/append_file.hpp"
#include "service/access_log/access_line.hpp"
#include "session/common/client_table.hpp"

namespace live::service::access_log {

// In place of a file's name.
inline constexpr std::string_view kOff = "off";

// The virtual hosts of the settings.
class VhostNames {
public:
    // The name of the one that serves what a client calls `name`; `name` itself when none does.
    virtual std::string serving(const std::string& name) const = 0;

protected:
    ~VhostNames() = default;
};

class AccessLog final : public session::ClientWatcher {
public:
    // So much is written without waiting for flush().
    static constexpr std::size_t kBatchBytes = 32 << 10;
    // What may wait while the file takes nothing; further lines are lost.
    static constexpr std::size_t kWaitingBytesMax = 128 << 10;

    // What is referred to outlives this. Nothing is opened before open().
    AccessLog(std::string path, const VhostNames& vhosts, const Log& log) : path_(std::move(path)), vhosts_(vhosts), log_(log) {}
    ~AccessLog() { flush(); }

    // For the first time, or again because the file was moved away. When that fails the log says so, and the file before, if
    // there was one, goes on being used.
    void open();
    // Writes what waits. To be called every second or so.
    void flush();
    // Lines that never reached a file.
    std::uint64_t lost() const { return lost_; }

    // session::ClientWatcher
    void on_entered(session::ClientEntry&) override {}
    void on_left(session::ClientEntry& entry, const session::SessionEnd& end) override;
    void on_refused(const session::ClientEntry& entry, const Error& error) override;

private:
    bool is_on() const { return path_ != kOff; }
    void add(const Visit& visit);

    const std::string path_;
    const VhostNames& vhosts_;
    const Log& log_;
    io::AppendFile file_;
    std::string waiting_;  // whole lines, but for the first one when the file took only its beginning
    std::uint64_t lost_ = 0;
    bool is_failing_ = false;
};

}  // namespace live::service::access_log
