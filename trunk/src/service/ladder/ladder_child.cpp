#include "service/ladder/ladder_child.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::ladder {

using wire::codec::Frame;

namespace {

constexpr std::size_t kInputPipeBytes = 512U << 10;
constexpr std::size_t kOutputPipeBytes = 256U << 10;
constexpr std::size_t kTextPipeBytes = 64U << 10;
constexpr std::size_t kBlockBytes = 64U << 10;
constexpr std::chrono::seconds kLook{1};
constexpr std::chrono::seconds kEndLimit{5};
constexpr std::chrono::milliseconds kLastLines{300};

}  // namespace

LadderChild::LadderChild(Setup setup, media::Cursor& cursor, Log log)
    : setup_(std::move(setup)), cursor_(cursor), log_(std::move(log)), feed_(setup_.config, setup_.begin, keys_) {}

void LadderChild::fail(End::Why why, std::string text) {
    if (std::exchange(is_over_, true))
        return;
    end_.why = why;
    end_.text = std::move(text);
    over_.raise();
}

Result<void> LadderChild::start() {
    auto [input, its_input] = TRY(io::open_pipe_to_child(kInputPipeBytes));
    auto [lines, its_lines] = TRY(io::open_pipe_from_child(kTextPipeBytes));
    auto [reports, its_reports] = TRY(io::open_pipe_from_child(kTextPipeBytes));
    io::ChildOptions options;
    options.arguments = setup_.arguments;
    options.ends_with_us = true;
    options.input = its_input.fd();
    options.errors = its_lines.fd();
    options.handles = {its_reports.fd()};
    std::vector<io::ChildEnd> its_outputs;
    for (std::size_t i = 0; i < setup_.rungs.size(); ++i) {
        auto [output, its_output] = TRY(io::open_pipe_from_child(kOutputPipeBytes));
        options.handles.push_back(its_output.fd());
        its_outputs.push_back(std::move(its_output));
        outputs_.push_back(std::make_unique<Output>(std::move(output), ChildOutput(feed_.base(), keys_)));
    }
    child_ = TRY(io::ChildProcess::spawn(options));
    input_ = std::move(input);
    lines_ = std::move(lines);
    reports_ = std::move(reports);
    state_.pid = child_->pid();
    return {};
}

Result<void> LadderChild::start_fibers() {
    TRY(log_reader_.start("ladder-log", [this](io::Deadline forever) { read_lines(forever); }));
    TRY(work_.start("ladder-report", [this](io::Deadline forever) { read_reports(forever); }));
    for (const auto& output : outputs_)
        TRY(work_.start("ladder-out", [this, &one = *output](io::Deadline forever) { read(one, forever); }));
    TRY(work_.start("ladder-in", [this](io::Deadline forever) { feed(forever); }));
    return work_.start("ladder-exit", [this](io::Deadline forever) {
        const auto exit = child_->wait(forever);
        if (exit.ok())
            fail(End::Why::failed, "ffmpeg " + exit->text());
    });
}

LadderChild::End LadderChild::run(io::Deadline deadline) {
    if (const auto started = start(); !started.ok()) {
        const bool is_missing = started.code() == Errc::not_found || started.code() == Errc::denied;
        return {is_missing ? End::Why::missing : End::Why::failed, started.error().sentence(), false, {}};
    }
    if (const auto fibers = start_fibers(); !fibers.ok())
        fail(End::Why::failed, fibers.error().text());
    watch(deadline);
    stop();
    end_.had_frames = !outputs_.empty() && std::ranges::all_of(outputs_, [](const auto& one) { return one->has_frames; });
    outputs_.clear();
    return end_;
}

void LadderChild::watch(io::Deadline deadline) {
    while (!is_over_) {
        const auto woken = io::wait(over_, deadline.sooner(io::Deadline::after(kLook)));
        if (!woken.ok() && woken.code() == Errc::cancelled)
            return fail(End::Why::cancelled, "");
        for (std::size_t i = 0; i < outputs_.size() && !is_over_; ++i)
            if (outputs_[i]->owes_since && io::now() - *outputs_[i]->owes_since > setup_.silence_max)
                fail(End::Why::failed, fmt::format("rendition {} gave no output for {} s", setup_.rungs[i].name,
                                                   std::chrono::duration_cast<std::chrono::seconds>(setup_.silence_max).count()));
    }
}

// The child is not asked: nothing that it could still write is wanted.
void LadderChild::stop() {
    const io::CancelShield shield;
    child_->send_signal(SIGKILL);
    static_cast<void>(child_->wait(io::Deadline::after(kEndLimit)));
    static_cast<void>(log_reader_.join(io::Deadline::after(kLastLines)));
    static_cast<void>(io::stop_all({&work_, &log_reader_}, io::Deadline::never()));
    input_.close();
}

// A child that is too slow continues at a later key frame.
bool LadderChild::is_left_out(const media::Packet& packet) {
    if (packet.kind != MediaKind::video || packet.is_config())
        return false;
    const bool is_behind = cursor_.source().timeline().newest() - packet.dts > kBehindMax;
    skips_ = is_behind || (skips_ && !packet.key);
    return skips_;
}

Result<void> LadderChild::send(ByteWriter& out, io::Deadline deadline) {
    for (const auto& output : outputs_)
        output->owes_since = output->owes_since.value_or(io::now());
    const auto bytes = out.release();
    return input_.write_all(bytes, deadline);
}

void LadderChild::feed(io::Deadline deadline) {
    ByteWriter out;
    feed_.write(setup_.begin, out);
    std::uint64_t dropped_before = 0;
    for (;;) {
        while (out.size() < kBlockBytes) {
            const auto packet = cursor_.take();
            if (!packet)
                break;
            if (feed_.changes_format(*packet))
                return fail(End::Why::new_format, "the publisher has changed the format");
            if (packet->dts - feed_.base() > kAgeMax)
                return fail(End::Why::new_format, "the child has run for 20 days");
            if (is_left_out(*packet))
                ++state_.dropped_packets;
            else
                feed_.write(*packet, out);
        }
        const std::uint64_t dropped = state_.dropped_packets + cursor_.dropped();
        if (dropped > dropped_before && !skips_) {
            LOG_WARN(log_, "LADDER {} ffmpeg is too slow, dropped_packets={}", setup_.url, dropped);
            dropped_before = dropped;
        }
        if (out.size() == 0) {
            if (!io::wait(cursor_.readable(), deadline).ok())
                return;
        } else if (const auto sent = send(out, deadline); !sent.ok()) {
            return;  // its end is reported by its exit
        }
    }
}

void LadderChild::read(Output& output, io::Deadline deadline) {
    std::vector<std::uint8_t> block(kBlockBytes);
    std::vector<Frame> frames;
    for (;;) {
        const auto got = output.pipe.read_some(block, deadline);
        if (!got.ok())
            return;
        state_.output_bytes += *got;
        output.owes_since.reset();
        auto done = output.reader.read(Bytes(block).first(*got), frames);
        if (done.ok())
            done = take(output, frames);
        if (!done.ok())
            return fail(End::Why::failed, "its output is not usable: " + done.error().sentence());
    }
}

Result<void> LadderChild::take(Output& output, std::vector<Frame>& frames) {
    output.has_frames = output.has_frames || !frames.empty();
    if (output.pending.size() + frames.size() > kPendingMax)
        return Error(Errc::limit, "the other renditions give nothing");
    std::ranges::move(frames, std::back_inserter(output.pending));
    frames.clear();
    TRY(begin_renditions());
    if (!output.rendition)
        return {};
    media::Source& source = output.rendition->source();
    source.set_arrival(io::now());
    for (Frame& frame : output.pending)
        output.rendition->push_frame(MediaKind::video, std::move(frame));
    output.pending.clear();
    source.flush();
    return {};
}

// In the same order in every run, so that each gets the same track. The last one gets the highest id.
Result<void> LadderChild::begin_renditions() {
    while (begun_ < outputs_.size() && outputs_[outputs_.size() - 1 - begun_]->has_frames) {
        const std::size_t next = outputs_.size() - 1 - begun_;
        Output& output = *outputs_[next];
        const media::TrackName name{MediaKind::video, {}, "", setup_.rungs[next].name};
        output.rendition = TRY(media::Rendition::start(Ref<media::Source>(&cursor_.source()), {name}));
        for (Frame& frame : output.pending)
            output.rendition->push_frame(MediaKind::video, std::move(frame));
        output.pending.clear();
        ++begun_;
    }
    return {};
}

void LadderChild::read_lines(io::Deadline deadline) {
    std::vector<std::uint8_t> block(4096);
    ffmpeg::LineReader lines;
    for (;;) {
        const auto got = lines_.read_some(block, deadline);
        if (!got.ok())
            return;
        lines.read(as_text(Bytes(block).first(*got)), [this](std::string_view line) {
            if (auto missing = ffmpeg::missing_encoder(line); !missing.empty())
                end_.missing_encoder = std::move(missing);
            LOG_INFO_REPEATED(log_, "LADDER {} ffmpeg: {}", setup_.url, redacted(line));
        });
    }
}

void LadderChild::read_reports(io::Deadline deadline) {
    std::vector<std::uint8_t> block(4096);
    ffmpeg::LineReader lines;
    for (;;) {
        const auto got = reports_.read_some(block, deadline);
        if (!got.ok())
            return;
        lines.read(as_text(Bytes(block).first(*got)),
                   [this](std::string_view line) { ffmpeg::read_progress(line, state_.progress); });
    }
}

}  // namespace live::service::ladder
