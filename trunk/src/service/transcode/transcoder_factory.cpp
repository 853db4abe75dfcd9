#include "service/transcode/transcoder_factory.hpp"

#include <array>
#include <utility>

#include "io/fibers/off_loop.hpp"
#include "service/transcode/av_library.hpp"
#include "service/transcode/av_transcoder.hpp"
#include "service/transcode/off_loop_transcoder.hpp"

namespace live::service::transcode {

namespace {

using Codec = wire::codec::Codec;

// The library's owners: see the header. The first coder of each kind fills tables, which takes milliseconds; later ones take half
// of one.
Result<std::shared_ptr<const AvLibrary>> load_and_try() {
    constexpr std::array<std::uint8_t, 2> kAacConfig = {0x11, 0x90};  // AAC-LC, 48 kHz, stereo
    std::shared_ptr<const AvLibrary> library = TRY(AvLibrary::load());
    // A failure is reported when a stream needs the transcoder.
    static_cast<void>(AvTranscoder::create(*library, {Codec::aac, kAacConfig, Codec::opus}));
    static_cast<void>(AvTranscoder::create(*library, {Codec::opus, {}, Codec::aac}));
    return library;
}

}  // namespace

TranscoderFactory::~TranscoderFactory() = default;

Result<void> TranscoderFactory::load(io::Deadline deadline) {
    if (library_ != nullptr)
        return {};
    if (failed_)
        return *failed_;
    auto loaded = io::off_loop(load_and_try, deadline);
    if (loaded.ok()) {
        library_ = *std::move(loaded);
        return {};
    }
    if (loaded.code() == Errc::unsupported)
        failed_ = loaded.error();
    return std::move(loaded).error();
}

Result<std::unique_ptr<media::AudioTranscoder>> TranscoderFactory::create(const media::Transcoding& what,
                                                                          media::AudioListener& listener) {
    if (library_ == nullptr)
        return failed_.value_or(Error(Errc::unsupported, "libavcodec is not loaded"));
    auto transcoder = TRY(AvTranscoder::create(*library_, what));
    return std::unique_ptr<media::AudioTranscoder>(
        std::make_unique<OffLoopTranscoder>(std::move(transcoder), library_, listener, pump_));
}

}  // namespace live::service::transcode
