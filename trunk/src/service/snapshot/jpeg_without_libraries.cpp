// jpeg_of() in a build without libavcodec's headers (see cmake/rooms.cmake), in place of jpeg.cpp.
#include "service/snapshot/key_frame.hpp"

namespace live::service::snapshot {

Result<std::vector<std::uint8_t>> jpeg_of(const KeyFrame&, int) {
    return Error(Errc::unsupported, "this server was built without libavcodec, so it makes no snapshots");
}

}  // namespace live::service::snapshot
