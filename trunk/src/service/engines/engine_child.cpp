#include "service/engines/engine_child.hpp"

#include <algorithm>
#include <utility>

#include "io/fibers/loop.hpp"

namespace live::service::engines {

using Why = ffmpeg::MediaChild::Why;

namespace {

constexpr std::size_t kFeedBytes = 64U << 10;

ffmpeg::MediaChild::Setup child_setup(const EngineChild::Setup& setup) {
    return {.label = "ENC " + setup.label,
            .arguments = setup.command.arguments,
            .outputs = setup.names,
            .is_piped_in = setup.command.is_piped_in,
            .is_piped_out = setup.command.is_piped_out,
            .may_finish = true,
            .silence_max = setup.silence_max,
            .log_path = setup.log_path};
}

}  // namespace

EngineChild::EngineChild(Setup setup, MediaFeed& feed, media::Cursor& cursor, PublishContext publish, const Log& log)
    : setup_(std::move(setup)),
      feed_(feed),
      cursor_(cursor),
      publish_(publish),
      log_(log),
      child_(child_setup(setup_), log),
      bytes_(setup_.names.size()) {}

ffmpeg::MediaChild::End EngineChild::run(io::Deadline deadline) {
    const MediaChild::Work work{
        .feed = [this](io::Deadline forever) { feed(forever); },
        .read = [this](std::size_t index, io::PipeReader& output, io::Deadline forever) { publish(index, output, forever); },
        .on_progress = [this](const ffmpeg::Progress& before, const ffmpeg::Progress& now) { take_progress(before, now); },
        .is_wanted = setup_.is_wanted};
    return child_.run(work, deadline);
}

// A child that is too slow continues at a later key frame.
bool EngineChild::is_left_out(const media::Packet& packet) {
    if (packet.is_config() || packet.kind == MediaKind::data)
        return false;
    const bool is_behind = cursor_.source().timeline().newest() - packet.dts > MediaChild::kBehindMax;
    if (is_behind)
        feed_.skip_to_key();
    return is_behind || (feed_.skips() && !(packet.kind == MediaKind::video && packet.key));
}

void EngineChild::take_input() {
    while (feed_.size() < kFeedBytes) {
        const auto packet = cursor_.take();
        if (!packet)
            break;
        if (is_left_out(*packet))
            child_.drop();
        else
            feed_.push(*packet);
    }
    if (!feed_.skips())
        child_.log_dropped(cursor_.dropped());
}

void EngineChild::feed(io::Deadline deadline) {
    for (;;) {
        take_input();
        if (feed_.has_changed())
            return child_.fail(Why::new_format, "the publisher has changed the format");
        const auto bytes = feed_.take();
        if (bytes.empty()) {
            if (!io::wait(cursor_.readable(), deadline).ok())
                return;
        } else if (!child_.write(bytes, deadline).ok()) {
            return;  // its end is reported by its exit
        }
    }
}

void EngineChild::note_output(std::size_t index, std::uint64_t bytes) {
    bytes_[index] += bytes;
    child_.note_output(index, bytes);
}

void EngineChild::publish(std::size_t index, io::PipeReader& output, io::Deadline deadline) {
    EnginePublisher publisher(publish_, *setup_.command.outputs[index].own, setup_.hidden, output, log_);
    const auto ended = publisher.run([this, index](std::size_t bytes) { note_output(index, bytes); }, deadline);
    if (ended.ok() || ended.code() == Errc::closed || ended.code() == Errc::cancelled)
        return;  // the child has ended
    const bool is_broken = ended.code() == Errc::malformed || ended.code() == Errc::unsupported;
    child_.fail(is_broken ? Why::bad_output : Why::refused,
                (setup_.names.size() == 1 ? "" : setup_.names[index] + ": ") +
                    (is_broken ? "its output is not usable: " : "its stream cannot be published: ") + ended.error().sentence(),
                index);
}

void EngineChild::take_progress(const ffmpeg::Progress& before, const ffmpeg::Progress& now) {
    // One image may be due much later than the one before.
    const bool has_output = now.is_beyond(before) || (child_.had_output() && setup_.makes_images);
    if (!setup_.command.is_piped_out && has_output)
        note_output(0, now.out_bytes - std::min(before.out_bytes, now.out_bytes));
}

}  // namespace live::service::engines
