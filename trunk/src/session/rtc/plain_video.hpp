// PlainVideo: a version of a stream without B-frames, for WebRTC players, which show frames in the order of their arrival.
#pragma once

#include "base/bytes/ref.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/source.hpp"
#include "session/common/admission.hpp"

namespace live::session::rtc {

class PlainVideo {
public:
    // Returns the source of the version, which players of the stream share, once it has video. Errc::not_found if it has none in
    // time.
    virtual Result<Ref<media::Source>> fetch_plain(const ClientRequest& player, const StreamPlan& plan,
                                                   io::Deadline deadline) = 0;

protected:
    ~PlainVideo() = default;
};

}  // namespace live::session::rtc
