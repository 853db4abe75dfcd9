#include "service/ffmpeg/child_log.hpp"

#include <utility>

#include <unistd.h>

#include "io/fibers/off_loop.hpp"
#include "io/files/append_file.hpp"

namespace live::service::ffmpeg {

namespace {

constexpr std::string_view kFull = "the rest is left out, because the file has reached its limit\n";

Result<void> write(const std::string& path, std::string_view text, bool is_first) {
    io::AppendFile file;
    TRY(file.open(path));
    if (is_first && ::ftruncate(file.native_handle(), 0) != 0)
        return Error(Errc::system, "cannot empty " + path);
    return file.write(text);
}

}  // namespace

void ChildLog::add(std::string_view line) {
    if (!is_open_ || bytes_ >= kBytesMax || waiting_.size() + line.size() >= kWaitingMax)
        return;
    waiting_.append(line).push_back('\n');
    bytes_ += line.size() + 1;
    if (bytes_ >= kBytesMax)
        waiting_ += kFull;
}

Result<void> ChildLog::flush(io::Deadline deadline) {
    if (waiting_.empty())
        return {};
    const bool is_first = !std::exchange(has_begun_, true);
    auto written = io::off_loop(
        [path = path_, text = std::exchange(waiting_, {}), is_first] { return write(path, text, is_first); }, deadline);
    is_open_ = is_open_ && written.ok();
    return written;
}

}  // namespace live::service::ffmpeg
