#include "media/source/publications.hpp"

#include <string>
#include <utility>

#include "base/check.hpp"

namespace live::media {

void Publisher::fill(RtpLog& rtp_log, KeyFrameSource& key_frames) {
    CHECK(!fills_rtp_log() && current_);
    rtp_log_ = &rtp_log;
    key_frames_ = &key_frames;
    rtp_log.start_writer(key_frames_);
}

void Publisher::stop_filling() {
    if (fills_rtp_log())
        rtp_log_->end_writer(key_frames_);
}

void RenditionPublisher::revoke() {
    current_ = false;
    tracks_.remove_rendition(id_);
    ended_.raise();
}

Result<void> Publications::start_rendition(RenditionPublisher& rendition) {
    if (current_ == nullptr)
        return Error(Errc::not_found, "a rendition of a stream without a publisher");
    if (renditions_.size() >= kRenditionsMax)
        return Error(Errc::limit, "more than " + std::to_string(kRenditionsMax) + " renditions of a stream");
    rendition.id_ = RenditionId(++newest_rendition_);
    rendition.current_ = true;
    renditions_.push_back(&rendition);
    return {};
}

void Publications::end_rendition(RenditionPublisher& rendition) {
    if (std::erase(renditions_, &rendition) > 0)
        rendition.revoke();
}

void Publications::end_renditions() {
    expected_renditions_ = 0;
    rendition_names_.clear();
    for (RenditionPublisher* const rendition : std::exchange(renditions_, {}))
        rendition->revoke();
}

void Publications::start(Publisher& publisher) {
    if (coming_ == &publisher)
        coming_ = nullptr;
    evict();
    current_ = &publisher;
    publisher.current_ = true;
    const bool has_waited = std::exchange(publisher.waits_, false);
    watches_.notify_publisher_began();
    if (has_waited && publisher.begin_listener_ != nullptr)
        publisher.begin_listener_->on_begun();
}

void Publications::reserve(Publisher& publisher) {
    if (Publisher* const evicted = std::exchange(coming_, &publisher)) {
        evicted->current_ = false;
        evicted->waits_ = false;
        evicted->evicted_.raise();
    }
    publisher.current_ = true;
    publisher.waits_ = true;
}

void Publications::end(Publisher& publisher) {
    publisher.current_ = false;
    if (std::exchange(publisher.waits_, false)) {
        CHECK(coming_ == &publisher);
        coming_ = nullptr;
        return;
    }
    CHECK(current_ == &publisher);
    current_ = nullptr;
    end_renditions();
}

void Publications::evict() {
    Publisher* const evicted = std::exchange(current_, nullptr);
    if (evicted == nullptr)
        return;
    end_renditions();
    evicted->current_ = false;
    evicted->stop_filling();
    evicted->evicted_.raise();
}

bool Publications::ask() {
    Publisher* const asked = owner();
    if (asked == nullptr || !asked->can_confirm_)
        return false;
    asked->asked_ = true;
    asked->evicted_.raise();
    return true;
}

void Publications::confirm(Publisher& publisher) {
    if (std::exchange(publisher.asked_, false) && publisher.current_)
        watches_.notify_publisher_confirmed();
}

void Publications::set_may_return(bool may_return) {
    const bool is_over = may_return_ && !may_return && current_ == nullptr;
    may_return_ = may_return;
    if (is_over)
        note_stream_ended();
}

}  // namespace live::media
