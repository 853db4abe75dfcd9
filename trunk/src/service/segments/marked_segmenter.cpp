#include "service/segments/marked_segmenter.hpp"

#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/off_loop.hpp"
#include "media/ring/relay_mark.hpp"

namespace live::service::segments {

MarkedSegmenter::MarkedSegmenter(Setup setup, Segmenter segmenter)
    : setup_(std::move(setup)), instance_(random_number()), segmenter_(std::move(segmenter)) {}

void MarkedSegmenter::end_publisher(bool relays_next) {
    has_mark_ = false;
    if (follower_)
        return relays_next ? follower_->begin_next() : follower_->restart();
    const bool was_open = segmenter_.is_open();
    segmenter_.interrupt();
    collect();
    if (was_open)
        events_.emplace_back(SegmentsEnded{segmenter_.number(), segmenter_.frames_hash()});
    segmenter_.restart();
}

// A node that relays works in the timeline of the node with the publisher, which may be far ahead of its own.
void MarkedSegmenter::begin_publisher(bool relays) {
    if (relays && !follower_) {
        follower_.emplace(segmenter_);
    } else if (!relays && follower_) {
        follower_.reset();
        segmenter_.leave_timeline();
    }
}

void MarkedSegmenter::push(const media::Packet& packet) {
    if (!follower_)
        return segmenter_.push(packet);
    media::Packet at_origin = packet;
    at_origin.dts += to_origin_;
    follower_->push(at_origin);
}

void MarkedSegmenter::interrupt() {
    if (follower_)
        follower_->interrupt();
    else
        segmenter_.interrupt();
}

std::optional<Mark> MarkedSegmenter::read(const media::Packet& packet) {
    const auto text = media::read_relay_mark(packet.payload.bytes());
    if (!follower_ || !text.ok())
        return std::nullopt;
    // This node, or one between here and the origin, has connected again, perhaps to another origin; the newest GOP is repeated.
    if (text->series == media::kRelayStart) {
        has_mark_ = false;
        follower_->reconnect();
    }
    if (text->series != setup_.series)
        return std::nullopt;
    auto mark = read_mark(text->text);
    if (!mark.ok()) {
        LOG_DEBUG(setup_.log, "{} {}: {}", setup_.series, setup_.source.url(), mark.error().text());
        return std::nullopt;
    }
    if (mark->rules != setup_.rules) {
        if (!std::exchange(rules_logged_, true))
            LOG_WARN(setup_.log, "{} {}: the origin cuts by other settings, so its fragments are not the same as here",
                     setup_.series, setup_.source.url());
        return std::nullopt;
    }
    const MediaTime by = text->to_origin - std::exchange(to_origin_, text->to_origin);
    if (!std::exchange(has_mark_, true))
        follower_->shift(by);  // until now the timelines seemed to be as far apart as with the publisher before
    else if (by != MediaTime{})
        follower_->restart();  // the same, by a node that does not say so
    return *std::move(mark);
}

void MarkedSegmenter::collect() {
    if (!follower_) {
        for (Made& made : segmenter_.take())
            events_.emplace_back(std::move(made));
        return;
    }
    for (Follower::Event& event : follower_->take())
        std::visit([this](auto&& one) { events_.emplace_back(std::move(one)); }, std::move(event));
}

std::vector<MarkedSegmenter::Event> MarkedSegmenter::take() {
    collect();
    io::free_off_loop(segmenter_.take_spent());
    return std::exchange(events_, {});
}

void MarkedSegmenter::tell(std::variant<SegmentState, SegmentsEnded> what, std::vector<std::uint64_t> list) {
    const Mark mark{setup_.rules, instance_, std::move(what), std::move(list)};
    setup_.source.append_mark({setup_.series, write_mark(mark), {}});
    setup_.source.notify();
}

}  // namespace live::service::segments
