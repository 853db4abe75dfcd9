#include "service/transcode/av_encoder.hpp"

#include <utility>

#include "base/check.hpp"
#include "service/transcode/av_decoder.hpp"

namespace live::service::transcode {

AvEncoder::AvEncoder(const AvLibrary& library, ContextPtr context)
    : library_(&library),
      context_(std::move(context)),
      packet_(library->packet_alloc(), FreePacket{&library}),
      frame_(library->frame_alloc(), FreeFrame{&library}) {}

Result<AvEncoder> AvEncoder::create(const AvLibrary& library, wire::codec::Codec codec, std::uint32_t bitrate) {
    // The library's own Opus encoder is experimental: libopus or none.
    const char* const name = codec == wire::codec::Codec::opus ? "libopus" : "aac";
    const AVCodec* const encoder = library->find_encoder_by_name(name);
    if (encoder == nullptr)
        return Error(Errc::unsupported, std::string("libavcodec has no encoder ") + name);
    ContextPtr context(library->alloc_context(encoder), FreeContext{&library});
    if (context == nullptr)
        return Error(Errc::limit, "no memory for an encoder");
    context->thread_count = 1;
    context->sample_rate = kSampleRate;
    context->bit_rate = bitrate;
    context->time_base = {1, kSampleRate};
    context->sample_fmt = codec == wire::codec::Codec::opus ? AV_SAMPLE_FMT_FLT : AV_SAMPLE_FMT_FLTP;
    context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    // Opus: search effort, up to 10; half of that takes two thirds of the time.
    context->compression_level = 5;
    library->channel_layout_default(&context->ch_layout, kChannels);
    // A quarter of the time of the default search, which would hold the loop for a millisecond per frame. Opus has no such
    // option.
    library->opt_set(context->priv_data, "aac_coder", "fast", 0);
    if (const int opened = library->open(context.get(), encoder, nullptr); opened < 0)
        return library.error(Errc::unsupported, "opening the encoder", opened);
    AvEncoder made(library, std::move(context));
    if (made.packet_ == nullptr || made.frame_ == nullptr)
        return Error(Errc::limit, "no memory for an encoder");
    return made;
}

Result<void> AvEncoder::encode(std::span<const float> samples) {
    const AvLibrary& library = *library_;
    const std::size_t count = frame_samples();
    CHECK(samples.size() == count * kChannels);
    AVFrame& frame = *frame_;
    frame.nb_samples = context_->frame_size;
    frame.format = context_->sample_fmt;
    frame.sample_rate = kSampleRate;
    frame.pts = samples_;
    library->channel_layout_default(&frame.ch_layout, kChannels);
    if (const int made = library->frame_get_buffer(&frame, 0); made < 0)
        return library.error(Errc::limit, "making room for a frame", made);
    const auto plane = [&frame](int index) { return static_cast<float*>(static_cast<void*>(frame.extended_data[index])); };
    if (context_->sample_fmt == AV_SAMPLE_FMT_FLT) {
        std::copy(samples.begin(), samples.end(), plane(0));
    } else {
        for (int channel = 0; channel < kChannels; ++channel)
            for (std::size_t i = 0; i < count; ++i)
                plane(channel)[i] = samples[i * kChannels + static_cast<std::size_t>(channel)];
    }
    samples_ += context_->frame_size;
    const int sent = library->send_frame(context_.get(), &frame);
    library->frame_unref(&frame);
    if (sent < 0)
        return library.error(Errc::malformed, "encoding", sent);
    return {};
}

Result<std::optional<Slice>> AvEncoder::poll() {
    const AvLibrary& library = *library_;
    const int code = library->receive_packet(context_.get(), packet_.get());
    if (code == AVERROR(EAGAIN))
        return std::optional<Slice>();
    if (code < 0)
        return library.error(Errc::malformed, "encoding", code);
    Slice data = Slice::copy_of({packet_->data, static_cast<std::size_t>(packet_->size)});
    library->packet_unref(packet_.get());
    return std::optional(std::move(data));
}

}  // namespace live::service::transcode
