// AvLibrary: the functions used from libavcodec, libavutil and libswresample. They are loaded when the first stream needs them
// and not linked: they depend on a hundred other libraries, about 15 MB of memory and 80 ms of start-up, and most servers convert
// no audio. See doc/adr/0016. Only this folder's av_*.cpp see the libraries' types.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
}

#include <memory>
#include <string>

#include "base/result.hpp"

namespace live::service::transcode {

class AvLibrary {
public:
    // Errc::unsupported, naming the missing file. Reads files: about 80 ms the first time.
    static Result<std::unique_ptr<AvLibrary>> load();

    // A sentence for an error code of the libraries.
    Error error(Errc code, const char* doing, int av_code) const;

    // Named as in the libraries, without av.
    struct Functions {
        decltype(&::avcodec_find_decoder) find_decoder;
        decltype(&::avcodec_find_encoder_by_name) find_encoder_by_name;
        decltype(&::avcodec_alloc_context3) alloc_context;
        decltype(&::avcodec_free_context) free_context;
        decltype(&::avcodec_open2) open;
        decltype(&::avcodec_send_packet) send_packet;
        decltype(&::avcodec_receive_frame) receive_frame;
        decltype(&::avcodec_send_frame) send_frame;
        decltype(&::avcodec_receive_packet) receive_packet;
        decltype(&::av_packet_alloc) packet_alloc;
        decltype(&::av_packet_free) packet_free;
        decltype(&::av_packet_unref) packet_unref;
        decltype(&::av_new_packet) new_packet;
        decltype(&::av_frame_alloc) frame_alloc;
        decltype(&::av_frame_free) frame_free;
        decltype(&::av_frame_unref) frame_unref;
        decltype(&::av_frame_get_buffer) frame_get_buffer;
        decltype(&::av_mallocz) mallocz;
        decltype(&::av_channel_layout_default) channel_layout_default;
        decltype(&::av_channel_layout_compare) channel_layout_compare;
        decltype(&::av_channel_layout_copy) channel_layout_copy;
        decltype(&::av_channel_layout_uninit) channel_layout_uninit;
        decltype(&::av_opt_set) opt_set;
        decltype(&::av_strerror) strerror;
        decltype(&::av_log_set_level) log_set_level;
        decltype(&::swr_alloc_set_opts2) swr_alloc_set_opts;
        decltype(&::swr_init) swr_init;
        decltype(&::swr_free) swr_free;
        decltype(&::swr_convert) swr_convert;
        decltype(&::swr_get_delay) swr_get_delay;
    };
    const Functions& operator*() const { return functions_; }
    const Functions* operator->() const { return &functions_; }

private:
    AvLibrary() = default;

    Functions functions_{};
};

// Owners of objects allocated by the libraries. The library outlives them.
struct FreeContext {
    const AvLibrary* library = nullptr;
    void operator()(AVCodecContext* context) const { (*library)->free_context(&context); }
};
struct FreePacket {
    const AvLibrary* library = nullptr;
    void operator()(AVPacket* packet) const { (*library)->packet_free(&packet); }
};
struct FreeFrame {
    const AvLibrary* library = nullptr;
    void operator()(AVFrame* frame) const { (*library)->frame_free(&frame); }
};
struct FreeResampler {
    const AvLibrary* library = nullptr;
    void operator()(SwrContext* resampler) const { (*library)->swr_free(&resampler); }
};
using ContextPtr = std::unique_ptr<AVCodecContext, FreeContext>;
using PacketPtr = std::unique_ptr<AVPacket, FreePacket>;
using FramePtr = std::unique_ptr<AVFrame, FreeFrame>;
using ResamplerPtr = std::unique_ptr<SwrContext, FreeResampler>;

}  // namespace live::service::transcode
