// AccessLog: appends a line of JSON to its file for each client that has left a stream or was refused. A thread writes the lines
// (io/files/line_writer.hpp) and rotates the file by size, so that ten thousand players leaving at once cost a few writes, none
// on the loop. A file that cannot be opened or written costs a warning and lost lines, never a session.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/log/log.hpp"
#include "io/files/line_writer.hpp"
#include "service/access_log/access_line.hpp"
#include "service/service.hpp"
#include "session/common/client_table.hpp"

namespace live::service::access_log {

// Instead of a file name.
inline constexpr std::string_view kOff = "off";

// The virtual hosts of the settings.
class VhostNames {
public:
    // The name of the virtual host that serves `name`; `name` itself when none does.
    virtual std::string serving(const std::string& name) const = 0;

protected:
    ~VhostNames() = default;
};

class AccessLog final : public Service, public session::ClientWatcher {
public:
    // The references outlive this. Nothing is opened before start().
    AccessLog(std::string path, io::LineWriter::Rotation rotation, const VhostNames& vhosts, const Log& log)
        : path_(std::move(path)), rotation_(rotation), vhosts_(vhosts), log_(log) {}

    // Opens the file, or reopens it after it was moved away. On failure logs an error and keeps the previous file, if any.
    void open();
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // Both log the lines that the file did not accept.
    void on_tick() override { report(); }
    Result<void> stop(io::Deadline deadline) override;
    std::string_view name() const override { return "the access log"; }
    io::LineWriter::Counters counters() const;
    // For tests.
    bool wait_written(std::chrono::milliseconds limit) { return writer_ == nullptr || writer_->wait_written(limit); }

    // session::ClientWatcher
    void on_entered(session::ClientEntry&) override {}
    void on_left(session::ClientEntry& entry, const session::SessionEnd& end) override;
    void on_refused(const session::ClientEntry& entry, const Error& error) override;

private:
    bool is_on() const { return path_ != kOff; }
    void add(const Visit& visit);
    void report();

    const std::string path_;
    const io::LineWriter::Rotation rotation_;
    const VhostNames& vhosts_;
    const Log& log_;
    std::unique_ptr<io::LineWriter> writer_;
    std::uint64_t lost_ = 0;  // while there was no file
};

}  // namespace live::service::access_log
