#include "service/slate/slate_encoder.hpp"

#include <csignal>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "io/fibers/loop.hpp"
#include "io/process/child_process.hpp"
#include "io/process/pipe.hpp"
#include "service/ffmpeg/child_reports.hpp"
#include "service/ffmpeg/find_program.hpp"

namespace live::service::slate {

namespace {

constexpr std::size_t kOutputPipeBytes = 256U << 10;
constexpr std::size_t kReadBytes = 64U << 10;
constexpr std::size_t kLineBytesMax = 300;
constexpr std::chrono::seconds kExitLimit{2};

Result<PreparedSlate> read_slate(io::PipeReader& output, io::Deadline deadline) {
    const auto reader = std::make_unique<SlateReader>();
    std::vector<std::uint8_t> block(kReadBytes);
    for (;;) {
        const auto got = output.read_some(block, deadline);
        if (!got.ok() && got.code() != Errc::closed)
            return got.error();
        if (!got.ok() || !reader->feed(Bytes(block).first(*got)))
            return reader->finish();
    }
}

Result<PreparedSlate> encode(const SlateForm& form, const std::string& file, Sound sound, io::Deadline deadline) {
    ffmpeg::ChildReports reports;
    const auto its_reports = TRY(reports.open());
    auto [output, its_output] = TRY(io::open_pipe_from_child(kOutputPipeBytes));
    io::ChildOptions options;
    options.arguments = slate_arguments(form, file, sound);
    options.arguments.front() = ffmpeg::find_program(options.arguments.front());
    options.arguments.back() = "pipe:" + std::to_string(io::kPassedHandle);
    options.ends_with_us = true;
    options.errors = its_reports.log.fd();
    options.handles = {its_output.fd()};
    const auto child = TRY(io::ChildProcess::spawn(options));
    its_output.close();
    std::string last_line;
    TRY(reports.start([&last_line](std::string_view line) { last_line = line.substr(0, kLineBytesMax); }));
    auto slate = read_slate(output, deadline);
    const io::CancelShield shield;
    output.close();
    const bool is_complete = slate.ok() && child->wait(io::Deadline::after(kExitLimit)).ok();
    child->send_signal(SIGKILL);
    const auto exit = child->stop(io::Deadline::after(kExitLimit));
    reports.finish();
    if (!slate.ok() && (slate.code() == Errc::cancelled || slate.code() == Errc::timed_out))
        return slate;
    if (is_complete && exit.ok() && exit->success())
        return slate;
    // The rest of a slate that is too large was not read.
    if (slate.ok() && slate->bytes > SlateReader::kBytesMax)
        return slate;
    return Error(Errc::malformed, last_line.empty() ? "ffmpeg gives no output" : "ffmpeg: " + last_line);
}

}  // namespace

Result<PreparedSlate> encode_slate(const SlateForm& form, const std::string& file, io::Deadline deadline) {
    auto slate = encode(form, file, Sound::of_file, deadline);
    if (slate.ok() || slate.code() != Errc::malformed || form.audio == wire::codec::Codec::none)
        return slate;
    // The file may have no audio.
    return encode(form, file, Sound::silence, deadline);
}

}  // namespace live::service::slate
