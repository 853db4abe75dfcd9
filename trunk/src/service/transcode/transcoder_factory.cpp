#include "service/transcode/transcoder_factory.hpp"

#include "service/transcode/av_library.hpp"
#include "service/transcode/av_transcoder.hpp"

namespace live::service::transcode {

TranscoderFactory::TranscoderFactory() = default;
TranscoderFactory::~TranscoderFactory() = default;

Result<void> TranscoderFactory::load() {
    if (failed_)
        return *failed_;
    if (library_ != nullptr)
        return {};
    auto loaded = AvLibrary::load();
    if (!loaded.ok()) {
        failed_ = loaded.error();
        return *failed_;
    }
    library_ = std::move(*loaded);
    return {};
}

Result<std::unique_ptr<media::AudioTranscoder>> TranscoderFactory::create(const media::Transcoding& what) {
    TRY(load());
    return AvTranscoder::create(*library_, what);
}

}  // namespace live::service::transcode
