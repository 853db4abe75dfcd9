#include "service/transcode/av_decoder.hpp"

#include <algorithm>
#include <utility>

namespace live::service::transcode {

namespace {

// Many times the length of a frame of any codec here: more than that is a broken decoder.
constexpr int kFrameSamplesMax = 48'000;

AVCodecID id_of(wire::codec::Codec codec) {
    using wire::codec::Codec;
    switch (codec) {
        case Codec::aac: return AV_CODEC_ID_AAC;
        case Codec::mp3: return AV_CODEC_ID_MP3;
        case Codec::opus: return AV_CODEC_ID_OPUS;
        case Codec::g711a: return AV_CODEC_ID_PCM_ALAW;
        case Codec::g711u: return AV_CODEC_ID_PCM_MULAW;
        default: return AV_CODEC_ID_NONE;
    }
}

}  // namespace

AvDecoder::AvDecoder(const AvLibrary& library, ContextPtr context)
    : library_(&library),
      context_(std::move(context)),
      packet_(library->packet_alloc(), FreePacket{&library}),
      frame_(library->frame_alloc(), FreeFrame{&library}),
      resampler_(nullptr, FreeResampler{&library}) {}

Result<AvDecoder> AvDecoder::create(const AvLibrary& library, wire::codec::Codec codec, Bytes config) {
    constexpr std::size_t kConfigBytesMax = 4'096;
    constexpr int kG711Rate = 8'000;
    const AVCodecID id = id_of(codec);
    const AVCodec* const decoder = id == AV_CODEC_ID_NONE ? nullptr : library->find_decoder(id);
    if (decoder == nullptr)
        return Error(Errc::unsupported, "there is no decoder of " + std::string(wire::codec::name_of(codec)));
    if (config.size() > kConfigBytesMax)
        return Error(Errc::limit, "a audio configuration of " + std::to_string(config.size()) + " bytes");
    ContextPtr context(library->alloc_context(decoder), FreeContext{&library});
    if (context == nullptr)
        return Error(Errc::limit, "no memory for a decoder");
    context->thread_count = 1;
    context->sample_rate = kSampleRate;
    library->channel_layout_default(&context->ch_layout, kChannels);
    if (id == AV_CODEC_ID_PCM_ALAW || id == AV_CODEC_ID_PCM_MULAW) {
        context->sample_rate = kG711Rate;
        library->channel_layout_default(&context->ch_layout, 1);
    }
    if (!config.empty()) {
        auto* const extra = static_cast<std::uint8_t*>(library->mallocz(config.size() + AV_INPUT_BUFFER_PADDING_SIZE));
        if (extra == nullptr)
            return Error(Errc::limit, "no memory for a decoder");
        copy_bytes(config, {extra, config.size()});
        context->extradata = extra;
        context->extradata_size = static_cast<int>(config.size());
    }
    if (const int opened = library->open(context.get(), decoder, nullptr); opened < 0)
        return library.error(Errc::malformed, "opening the decoder", opened);
    AvDecoder made(library, std::move(context));
    if (made.packet_ == nullptr || made.frame_ == nullptr)
        return Error(Errc::limit, "no memory for a decoder");
    return made;
}

Result<void> AvDecoder::decode(Bytes frame, std::vector<float>& samples) {
    const AvLibrary& library = *library_;
    if (frame.size() > kFrameBytesMax)
        return Error(Errc::limit, "a audio frame of " + std::to_string(frame.size()) + " bytes");
    if (const int made = library->new_packet(packet_.get(), static_cast<int>(frame.size())); made < 0)
        return library.error(Errc::limit, "copying a frame", made);
    copy_bytes(frame, {packet_->data, frame.size()});
    int code = library->send_packet(context_.get(), packet_.get());
    library->packet_unref(packet_.get());
    if (code < 0)
        return library.error(Errc::malformed, "decoding", code);
    while ((code = library->receive_frame(context_.get(), frame_.get())) >= 0) {
        const auto resampled = resample(samples);
        library->frame_unref(frame_.get());
        if (!resampled.ok())
            return resampled;
    }
    if (code != AVERROR(EAGAIN))
        return library.error(Errc::malformed, "decoding", code);
    return {};
}

Result<void> AvDecoder::prepare_resampler() {
    const AvLibrary& library = *library_;
    AVFrame& frame = *frame_;
    if (resampler_ != nullptr && frame.sample_rate == rate_ && frame.format == format_ &&
        frame.ch_layout.nb_channels == channels_)
        return {};
    AVChannelLayout stereo{};
    library->channel_layout_default(&stereo, kChannels);
    SwrContext* resampler = nullptr;
    int code = library->swr_alloc_set_opts(&resampler, &stereo, AV_SAMPLE_FMT_FLT, kSampleRate, &frame.ch_layout,
                                           static_cast<AVSampleFormat>(frame.format), frame.sample_rate, 0, nullptr);
    resampler_.reset(resampler);
    // A mono channel goes to both sides unchanged; the library would attenuate it by 3 dB.
    if (code >= 0 && frame.ch_layout.nb_channels == 1)
        code = library->opt_set(resampler, "rematrix_volume", "1.41421356", 0);
    if (code >= 0)
        code = library->swr_init(resampler);
    if (code < 0) {
        resampler_.reset();
        return library.error(Errc::malformed, "preparing the sample rate", code);
    }
    rate_ = frame.sample_rate;
    format_ = frame.format;
    channels_ = frame.ch_layout.nb_channels;
    return {};
}

Result<void> AvDecoder::resample(std::vector<float>& samples) {
    const AVFrame& frame = *frame_;
    if (frame.nb_samples <= 0 || frame.nb_samples > kFrameSamplesMax || frame.sample_rate <= 0)
        return Error(Errc::malformed, "a frame of " + std::to_string(frame.nb_samples) + " samples");
    TRY(prepare_resampler());
    constexpr std::int64_t kSpare = 64;
    const std::int64_t room = std::int64_t{frame.nb_samples} * kSampleRate / frame.sample_rate + delay() + kSpare;
    const std::size_t before = samples.size();
    samples.resize(before + static_cast<std::size_t>(room) * kChannels);
    auto* out = static_cast<std::uint8_t*>(static_cast<void*>(samples.data() + before));
    const int count = (*library_)->swr_convert(resampler_.get(), &out, static_cast<int>(room),
                                               const_cast<const std::uint8_t**>(frame.extended_data), frame.nb_samples);
    samples.resize(before + static_cast<std::size_t>(std::max(count, 0)) * kChannels);
    if (count < 0)
        return library_->error(Errc::malformed, "changing the sample rate", count);
    return {};
}

std::int64_t AvDecoder::delay() const {
    return resampler_ == nullptr ? 0 : (*library_)->swr_get_delay(resampler_.get(), kSampleRate);
}

}  // namespace live::service::transcode
