#include "media/source/publication.hpp"

#include <utility>

namespace live::media {

Result<std::unique_ptr<Publication>> Publication::start(Ref<Source> source, Takeover takeover) {
    if (source->publications().owner() != nullptr && takeover == Takeover::refuse)
        return Error(Errc::conflict, "stream " + source->url() + " is published already");
    return std::make_unique<Publication>(std::move(source));
}

Publication::Publication(Ref<Source> source, Role role) : Publisher(role), source_(std::move(source)) {
    source_->start_publication(*this);
}

Publication::~Publication() {
    stop_filling();
    if (is_current())
        source_->end_publication(*this);
    if (fills_rtp_log())
        source_->rtp_logs().release_for_writer();
}

void Publication::begin() {
    if (!is_current() || !is_waiting())
        return;
    source_->begin_publication(*this);
    source_->tracks().announce(announced_);
}

void Publication::announce(MediaKindSet kinds) {
    if (is_waiting())
        announced_.add(kinds);
    else
        source_->tracks().announce(kinds);
}

RtpLog& Publication::fill_rtp_log(KeyFrameSource& key_frames) {
    RtpLog& rtp_log = source_->rtp_logs().hold_for_writer();
    fill(rtp_log, key_frames);
    return rtp_log;
}

}  // namespace live::media
