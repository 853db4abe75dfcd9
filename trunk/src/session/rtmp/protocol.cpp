#include "session/rtmp/protocol.hpp"

#include "session/rtmp/play_session.hpp"
#include "session/rtmp/publish_session.hpp"

namespace live::session {

constexpr ClientKindRow kinds::kRtmpPlay{.name = "rtmp-play", .reach = Reach::rtmp};
constexpr ClientKindRow kinds::kFmlePublish{.name = "fmle-publish", .is_publisher = true};
constexpr ClientKindRow kinds::kFlashPublish{.name = "flash-publish", .is_publisher = true};
constexpr ClientKindRow kinds::kHaivisionPublish{.name = "haivision-publish", .is_publisher = true};

Protocol rtmp::describe(const Traffic& traffic) {
    return {.name = "rtmp",
            .kinds = {{ClientKind::rtmp_play, sizeof(PlaySession)},
                      {ClientKind::fmle_publish, sizeof(PublishSession)},
                      {ClientKind::flash_publish, sizeof(PublishSession)},
                      {ClientKind::haivision_publish, sizeof(PublishSession)}},
            .traffic = [&traffic] { return traffic; }};
}

}  // namespace live::session
