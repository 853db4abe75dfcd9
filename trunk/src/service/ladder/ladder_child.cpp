#include "service/ladder/ladder_child.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "io/fibers/loop.hpp"

namespace live::service::ladder {

using wire::codec::Frame;
using Why = ffmpeg::MediaChild::Why;

namespace {

constexpr std::size_t kBlockBytes = 64U << 10;

ffmpeg::MediaChild::Setup child_setup(const LadderChild::Setup& setup) {
    ffmpeg::MediaChild::Setup child{.label = "LADDER " + setup.url, .arguments = setup.arguments};
    for (const Rung& rung : setup.rungs)
        child.outputs.push_back("rendition " + rung.name);
    child.silence_max = setup.silence_max;
    child.log_path = setup.log_path;
    return child;
}

}  // namespace

LadderChild::LadderChild(const Setup& setup, media::Cursor& cursor, Log log)
    : begin_(setup.begin),
      is_wanted_(setup.is_wanted),
      cursor_(cursor),
      feed_(setup.config, begin_, keys_),
      child_(child_setup(setup), std::move(log)) {
    for (const Rung& rung : setup.rungs) {
        names_.push_back(rung.name);
        outputs_.emplace_back(ChildOutput(feed_.base(), keys_));
    }
}

ffmpeg::MediaChild::End LadderChild::run(io::Deadline deadline) {
    const MediaChild::Work work{
        .feed = [this](io::Deadline forever) { feed(forever); },
        .read = [this](std::size_t index, io::PipeReader& pipe, io::Deadline forever) { read(index, pipe, forever); },
        .is_wanted = is_wanted_};
    auto end = child_.run(work, deadline);
    end.had_output = std::ranges::all_of(outputs_, [](const Output& one) { return one.has_frames; });
    outputs_.clear();
    return end;
}

void LadderChild::write(const media::Packet& frame, ByteWriter& out) {
    feed_.write(frame, out);
    if (frame.kind != MediaKind::video || frame.is_config())
        return;
    ++fed_;
    newest_fed_ = frame.dts;
}

// The pipe of a small stream holds many seconds of it, so that the child may be late although it takes its input in time.
bool LadderChild::is_slow() const {
    return std::ranges::any_of(outputs_, [this](const Output& one) {
        return one.has_frames && newest_fed_ - one.newest > MediaChild::kBehindMax && fed_ > one.frames + kHeldMax;
    });
}

// A child that is too slow continues at a later key frame.
bool LadderChild::is_left_out(const media::Packet& packet) {
    if (packet.kind != MediaKind::video || packet.is_config())
        return false;
    const bool is_behind = cursor_.source().timeline().newest() - packet.dts > MediaChild::kBehindMax;
    skips_ = is_behind || is_slow() || (skips_ && !packet.key);
    return skips_;
}

void LadderChild::feed(io::Deadline deadline) {
    ByteWriter out;
    write(begin_, out);
    for (;;) {
        while (out.size() < kBlockBytes) {
            const auto packet = cursor_.take();
            if (!packet)
                break;
            if (feed_.changes_format(*packet))
                return child_.fail(Why::new_format, "the publisher has changed the format");
            if (packet->dts - feed_.base() > kAgeMax)
                return child_.fail(Why::new_format, "the child has run for 20 days");
            if (is_left_out(*packet))
                child_.drop();
            else
                write(*packet, out);
        }
        if (!skips_)
            child_.log_dropped(cursor_.dropped());
        if (out.size() == 0) {
            if (!io::wait(cursor_.readable(), deadline).ok())
                return;
        } else if (!child_.write(out.release(), deadline).ok()) {
            return;  // its end is reported by its exit
        }
    }
}

void LadderChild::read(std::size_t index, io::PipeReader& pipe, io::Deadline deadline) {
    Output& output = outputs_[index];
    std::vector<std::uint8_t> block(kBlockBytes);
    std::vector<Frame> frames;
    for (;;) {
        const auto got = pipe.read_some(block, deadline);
        if (!got.ok())
            return;
        child_.note_output(index, *got);
        auto done = output.reader.read(Bytes(block).first(*got), frames);
        if (done.ok())
            done = take(output, frames);
        if (!done.ok())
            return child_.fail(Why::bad_output, "its output is not usable: " + done.error().sentence());
    }
}

Result<void> LadderChild::take(Output& output, std::vector<Frame>& frames) {
    output.has_frames = output.has_frames || !frames.empty();
    for (const Frame& frame : frames) {
        output.frames += frame.content == wire::codec::Content::frame ? 1 : 0;
        output.newest = frame.dts;
    }
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
    while (begun_ < outputs_.size() && outputs_[outputs_.size() - 1 - begun_].has_frames) {
        const std::size_t next = outputs_.size() - 1 - begun_;
        Output& output = outputs_[next];
        const media::TrackName name{MediaKind::video, {}, "", names_[next]};
        output.rendition = TRY(media::Rendition::start(Ref<media::Source>(&cursor_.source()), {name}));
        for (Frame& frame : output.pending)
            output.rendition->push_frame(MediaKind::video, std::move(frame));
        output.pending.clear();
        ++begun_;
    }
    return {};
}

}  // namespace live::service::ladder
