// jpeg_of() with libavcodec and libswscale. They are loaded at the first snapshot and stay loaded, and are not linked: see
// doc/adr/0016. Their frames and contexts are owned by small deleters; none of them leaves this file.
#include "service/snapshot/key_frame.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "service/ffmpeg/shared_library.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/log.h>
#include <libswscale/swscale.h>
}

namespace live::service::snapshot {

namespace {

// JPEG quality, from 2 (best) to 31.
constexpr int kQuality = 4;
// Side of a JPEG's chroma block.
constexpr int kBlock = 2;

// Named as in the libraries, without av.
struct Functions {
    decltype(&::avcodec_find_decoder) find_decoder;
    decltype(&::avcodec_find_encoder) find_encoder;
    decltype(&::avcodec_alloc_context3) alloc_context;
    decltype(&::avcodec_free_context) free_context;
    decltype(&::avcodec_open2) open;
    decltype(&::avcodec_send_packet) send_packet;
    decltype(&::avcodec_receive_frame) receive_frame;
    decltype(&::avcodec_send_frame) send_frame;
    decltype(&::avcodec_receive_packet) receive_packet;
    decltype(&::av_packet_alloc) packet_alloc;
    decltype(&::av_packet_free) packet_free;
    decltype(&::av_new_packet) new_packet;
    decltype(&::av_frame_alloc) frame_alloc;
    decltype(&::av_frame_free) frame_free;
    decltype(&::av_frame_get_buffer) frame_get_buffer;
    decltype(&::av_mallocz) mallocz;
    decltype(&::av_log_set_level) log_set_level;
    decltype(&::sws_getContext) get_scaler;
    decltype(&::sws_freeContext) free_scaler;
    decltype(&::sws_scale) scale;
};

Result<Functions> load_functions() {
    Functions f;
    ffmpeg::SharedLibrary util("avutil", LIBAVUTIL_VERSION_MAJOR);
    util(f.frame_alloc, "av_frame_alloc")(f.frame_free, "av_frame_free")(f.frame_get_buffer, "av_frame_get_buffer");
    util(f.mallocz, "av_mallocz")(f.log_set_level, "av_log_set_level");
    TRY(util.result());
    ffmpeg::SharedLibrary codec("avcodec", LIBAVCODEC_VERSION_MAJOR);
    codec(f.find_decoder, "avcodec_find_decoder")(f.find_encoder, "avcodec_find_encoder");
    codec(f.alloc_context, "avcodec_alloc_context3")(f.free_context, "avcodec_free_context")(f.open, "avcodec_open2");
    codec(f.send_packet, "avcodec_send_packet")(f.receive_frame, "avcodec_receive_frame");
    codec(f.send_frame, "avcodec_send_frame")(f.receive_packet, "avcodec_receive_packet");
    codec(f.packet_alloc, "av_packet_alloc")(f.packet_free, "av_packet_free")(f.new_packet, "av_new_packet");
    TRY(codec.result());
    ffmpeg::SharedLibrary scale("swscale", LIBSWSCALE_VERSION_MAJOR);
    scale(f.get_scaler, "sws_getContext")(f.free_scaler, "sws_freeContext")(f.scale, "sws_scale");
    TRY(scale.result());
    // They write to standard error otherwise.
    f.log_set_level(AV_LOG_QUIET);
    return f;
}

struct Free {
    const Functions* functions;
    void operator()(AVCodecContext* context) const { functions->free_context(&context); }
    void operator()(AVPacket* packet) const { functions->packet_free(&packet); }
    void operator()(AVFrame* frame) const { functions->frame_free(&frame); }
    void operator()(SwsContext* scaler) const { functions->free_scaler(scaler); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

Error no_memory() { return {Errc::system, "no memory for an image"}; }

AVCodecID id_of(wire::codec::Codec codec) {
    switch (codec) {
        case wire::codec::Codec::avc: return AV_CODEC_ID_H264;
        case wire::codec::Codec::hevc: return AV_CODEC_ID_HEVC;
        case wire::codec::Codec::av1: return AV_CODEC_ID_AV1;
        case wire::codec::Codec::vp9: return AV_CODEC_ID_VP9;
        default: return AV_CODEC_ID_NONE;
    }
}

Result<Owned<AVCodecContext>> open_decoder(const Functions& av, const KeyFrame& frame) {
    const AVCodec* codec = av.find_decoder(id_of(frame.codec));
    if (codec == nullptr)
        return Error(Errc::unsupported, "libavcodec here cannot decode " + std::string(name_of(frame.codec)));
    Owned<AVCodecContext> context(av.alloc_context(codec), Free{&av});
    if (!context)
        return no_memory();
    if (!frame.config.empty()) {
        context->extradata = static_cast<std::uint8_t*>(av.mallocz(frame.config.size() + AV_INPUT_BUFFER_PADDING_SIZE));
        if (context->extradata == nullptr)
            return no_memory();
        copy_bytes(frame.config, {context->extradata, frame.config.size()});
        context->extradata_size = static_cast<int>(frame.config.size());
    }
    context->thread_count = 1;
    context->max_pixels = kPixelsMax;
    // Frames after a recovery point count as damaged until enough others were decoded.
    context->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT;
    context->flags2 |= AV_CODEC_FLAG2_SHOW_ALL;
    if (av.open(context.get(), codec, nullptr) < 0)
        return Error(Errc::malformed, "the decoder does not take the stream's configuration");
    return context;
}

Result<Owned<AVFrame>> decode(const Functions& av, const KeyFrame& frame) {
    auto context = TRY(open_decoder(av, frame));
    const Owned<AVPacket> packet(av.packet_alloc(), Free{&av});
    Owned<AVFrame> picture(av.frame_alloc(), Free{&av});
    if (!packet || !picture || av.new_packet(packet.get(), static_cast<int>(frame.data.size())) < 0)
        return no_memory();
    copy_bytes(frame.data, {packet->data, frame.data.size()});
    packet->flags |= AV_PKT_FLAG_KEY;
    if (av.send_packet(context.get(), packet.get()) < 0 || av.send_packet(context.get(), nullptr) < 0 ||
        av.receive_frame(context.get(), picture.get()) < 0)
        return Error(Errc::malformed, "the key frame cannot be decoded");
    if (picture->width < kBlock || picture->height < kBlock ||
        static_cast<std::int64_t>(picture->width) * picture->height > kPixelsMax)
        return Error(Errc::limit, "snapshots are not made of frames of this size");
    return picture;
}

// Square pixels, at most `width_max` wide, full range.
Result<Owned<AVFrame>> scale(const Functions& av, const AVFrame& from, int width_max) {
    const AVRational shape = from.sample_aspect_ratio;
    std::int64_t wide = from.width;
    if (shape.num > 0 && shape.den > 0 && shape.num < 8 * shape.den && shape.den < 8 * shape.num)
        wide = wide * shape.num / shape.den;
    const std::int64_t width = std::clamp<std::int64_t>(wide, kBlock, width_max);
    const std::int64_t height = std::max<std::int64_t>(from.height * width / std::max<std::int64_t>(wide, 1), kBlock);
    Owned<AVFrame> to(av.frame_alloc(), Free{&av});
    if (!to)
        return no_memory();
    to->format = AV_PIX_FMT_YUVJ420P;
    to->width = static_cast<int>(width / kBlock * kBlock);
    to->height = static_cast<int>(std::clamp<std::int64_t>(height, kBlock, kPixelsMax / width) / kBlock * kBlock);
    const Owned<SwsContext> scaler(av.get_scaler(from.width, from.height, static_cast<AVPixelFormat>(from.format), to->width,
                                                 to->height, AV_PIX_FMT_YUVJ420P, SWS_BILINEAR, nullptr, nullptr, nullptr),
                                   Free{&av});
    if (!scaler || av.frame_get_buffer(to.get(), 0) < 0)
        return no_memory();
    if (av.scale(scaler.get(), from.data, from.linesize, 0, from.height, to->data, to->linesize) <= 0)
        return Error(Errc::malformed, "the frame cannot be scaled");
    return to;
}

Result<std::vector<std::uint8_t>> encode(const Functions& av, AVFrame& picture) {
    const AVCodec* codec = av.find_encoder(AV_CODEC_ID_MJPEG);
    if (codec == nullptr)
        return Error(Errc::unsupported, "libavcodec here has no encoder for JPEG");
    const Owned<AVCodecContext> context(av.alloc_context(codec), Free{&av});
    const Owned<AVPacket> packet(av.packet_alloc(), Free{&av});
    if (!context || !packet)
        return no_memory();
    context->width = picture.width;
    context->height = picture.height;
    context->pix_fmt = AV_PIX_FMT_YUVJ420P;
    context->color_range = AVCOL_RANGE_JPEG;
    context->time_base = {1, 1};
    context->thread_count = 1;
    context->flags |= AV_CODEC_FLAG_QSCALE;
    context->global_quality = picture.quality = kQuality * FF_QP2LAMBDA;
    picture.pts = 0;
    if (av.open(context.get(), codec, nullptr) < 0 || av.send_frame(context.get(), &picture) < 0 ||
        av.send_frame(context.get(), nullptr) < 0 || av.receive_packet(context.get(), packet.get()) < 0)
        return Error(Errc::system, "the frame cannot be encoded");
    return std::vector<std::uint8_t>(packet->data, packet->data + packet->size);
}

}  // namespace

Result<std::vector<std::uint8_t>> jpeg_of(const KeyFrame& frame, int width_max) {
    const auto functions = TRY(load_functions());
    const auto decoded = TRY(decode(functions, frame));
    const auto scaled = TRY(scale(functions, *decoded, width_max));
    return encode(functions, *scaled);
}

}  // namespace live::service::snapshot
