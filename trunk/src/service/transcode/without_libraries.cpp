// TranscoderFactory in a build without libavcodec's headers (see cmake/rooms.cmake), in place of transcoder_factory.cpp.
#include "service/transcode/transcoder_factory.hpp"

namespace live::service::transcode {

class AvLibrary {};

TranscoderFactory::~TranscoderFactory() = default;

Result<void> TranscoderFactory::load(io::Deadline) {
    return Error(Errc::unsupported, "this server was built without libavcodec");
}

Result<std::unique_ptr<media::AudioTranscoder>> TranscoderFactory::create(const media::Transcoding&, media::AudioListener&) {
    return Error(Errc::unsupported, "this server was built without libavcodec");
}

}  // namespace live::service::transcode
