#include "media/source/publication.hpp"

#include <utility>

namespace live::media {

Result<std::unique_ptr<Publication>> Publication::start(Ref<Source> source, Takeover takeover) {
    if (source->is_published() && takeover == Takeover::refuse)
        return Error(Errc::conflict, "stream " + source->url() + " is published already");
    return std::make_unique<Publication>(std::move(source));
}

Publication::Publication(Ref<Source> source) : source_(std::move(source)) { source_->start_publication(*this); }

Publication::~Publication() {
    stop_filling();
    if (is_current())
        source_->end_publication(*this);
    if (fills_rtp_log())
        source_->rtp_logs().release_for_writer();
}

RtpLog& Publication::fill_rtp_log(KeyFrameSource& key_frames) {
    RtpLog& rtp_log = source_->rtp_logs().hold_for_writer();
    fill(rtp_log, key_frames);
    return rtp_log;
}

}  // namespace live::media
