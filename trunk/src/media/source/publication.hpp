// Publication: the right to publish on a source, which it keeps alive. It is released on destruction.
#pragma once

#include <memory>

#include "base/bytes/ref.hpp"
#include "base/result.hpp"
#include "media/source/source.hpp"

namespace live::media {

class Publication final : public Publisher {
public:
    // Errc::conflict if the stream already has a publisher and `takeover` is off.
    static Result<std::unique_ptr<Publication>> start(Ref<Source> source, Takeover takeover);
    // Evicts the current publisher, if there is one. While a stand-in feeds the stream, the publication waits: see begin().
    // Role::stand_in: publishes for a StandIn, and any other publisher may take the stream from it.
    explicit Publication(Ref<Source> source, Role role = Role::publisher);
    ~Publication();

    Source& source() { return *source_; }
    // Answers Publications::ask: the connection is still there.
    void confirm() { source_->publications().confirm(*this); }
    // Ends the stand-in that this publication waits for, if it does. To be called before the first packet, a key frame.
    void begin();
    // The publisher's container announces these kinds: see Tracks::announce().
    void announce(MediaKindSet kinds);

    // For a publisher that brings RTP and fills the source's RTP log itself, once. The log is valid for the lifetime of this
    // object; write to it only while this is current. `key_frames` must outlive this. Frames that are appended as well are not
    // converted.
    RtpLog& fill_rtp_log(KeyFrameSource& key_frames);

private:
    Ref<Source> source_;
    MediaKindSet announced_;  // while it waits
};

}  // namespace live::media
