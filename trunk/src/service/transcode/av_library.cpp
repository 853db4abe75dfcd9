#include "service/transcode/av_library.hpp"

#include <array>

#include "service/ffmpeg/shared_library.hpp"

namespace live::service::transcode {

Result<std::unique_ptr<AvLibrary>> AvLibrary::load() {
    std::unique_ptr<AvLibrary> library(std::make_unique<AvLibrary>(AvLibrary()));
    Functions& f = library->functions_;
    ffmpeg::SharedLibrary codec("avcodec", LIBAVCODEC_VERSION_MAJOR);
    codec(f.find_decoder, "avcodec_find_decoder")(f.find_encoder_by_name, "avcodec_find_encoder_by_name");
    codec(f.alloc_context, "avcodec_alloc_context3")(f.free_context, "avcodec_free_context")(f.open, "avcodec_open2");
    codec(f.send_packet, "avcodec_send_packet")(f.receive_frame, "avcodec_receive_frame");
    codec(f.send_frame, "avcodec_send_frame")(f.receive_packet, "avcodec_receive_packet");
    codec(f.packet_alloc, "av_packet_alloc")(f.packet_free, "av_packet_free")(f.packet_unref, "av_packet_unref");
    codec(f.new_packet, "av_new_packet");
    TRY(codec.result());
    ffmpeg::SharedLibrary util("avutil", LIBAVUTIL_VERSION_MAJOR);
    util(f.frame_alloc, "av_frame_alloc")(f.frame_free, "av_frame_free")(f.frame_unref, "av_frame_unref");
    util(f.frame_get_buffer, "av_frame_get_buffer")(f.mallocz, "av_mallocz");
    util(f.channel_layout_default, "av_channel_layout_default")(f.channel_layout_compare, "av_channel_layout_compare");
    util(f.channel_layout_copy, "av_channel_layout_copy")(f.channel_layout_uninit, "av_channel_layout_uninit");
    util(f.opt_set, "av_opt_set")(f.strerror, "av_strerror")(f.log_set_level, "av_log_set_level");
    TRY(util.result());
    ffmpeg::SharedLibrary resample("swresample", LIBSWRESAMPLE_VERSION_MAJOR);
    resample(f.swr_alloc_set_opts, "swr_alloc_set_opts2")(f.swr_init, "swr_init")(f.swr_free, "swr_free");
    resample(f.swr_convert, "swr_convert")(f.swr_get_delay, "swr_get_delay");
    TRY(resample.result());
    // Without this they write errors, which are also returned, to standard error.
    f.log_set_level(AV_LOG_QUIET);
    return library;
}

Error AvLibrary::error(Errc code, const char* doing, int av_code) const {
    std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
    functions_.strerror(av_code, text.data(), text.size());
    return {code, std::string(doing) + ": " + text.data()};
}

}  // namespace live::service::transcode
