#include "service/transcode/av_library.hpp"

#include <array>
#include <bit>

#include <dlfcn.h>

namespace live::service::transcode {

namespace {

Result<LibraryHandle> open_library(const char* name, unsigned version) {
    const std::string file = std::string("lib") + name + ".so." + std::to_string(version);
    LibraryHandle handle(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (handle == nullptr)
        return Error(Errc::unsupported, file + " cannot be loaded; the package ffmpeg brings it");
    return handle;
}

// Looks functions up until one is missing.
class Lookup {
public:
    explicit Lookup(const LibraryHandle& library) : library_(library.get()) {}

    template <class Function>
    Lookup& operator()(Function& function, const char* name) {
        void* const found = ::dlsym(library_, name);
        if (found == nullptr)
            missing_ = name;
        else
            function = std::bit_cast<Function>(found);
        return *this;
    }
    Result<void> result() const {
        if (missing_ != nullptr)
            return Error(Errc::unsupported, std::string("libavcodec and its like have no ") + missing_);
        return {};
    }

private:
    void* library_;
    const char* missing_ = nullptr;
};

}  // namespace

void CloseLibrary::operator()(void* library) const { ::dlclose(library); }

Result<std::unique_ptr<AvLibrary>> AvLibrary::load() {
    std::unique_ptr<AvLibrary> library(std::make_unique<AvLibrary>(AvLibrary()));
    library->util_ = TRY(open_library("avutil", LIBAVUTIL_VERSION_MAJOR));
    library->resample_ = TRY(open_library("swresample", LIBSWRESAMPLE_VERSION_MAJOR));
    library->codec_ = TRY(open_library("avcodec", LIBAVCODEC_VERSION_MAJOR));
    Functions& f = library->functions_;
    Lookup codec(library->codec_);
    codec(f.find_decoder, "avcodec_find_decoder")(f.find_encoder_by_name, "avcodec_find_encoder_by_name");
    codec(f.alloc_context, "avcodec_alloc_context3")(f.free_context, "avcodec_free_context")(f.open, "avcodec_open2");
    codec(f.send_packet, "avcodec_send_packet")(f.receive_frame, "avcodec_receive_frame");
    codec(f.send_frame, "avcodec_send_frame")(f.receive_packet, "avcodec_receive_packet");
    codec(f.packet_alloc, "av_packet_alloc")(f.packet_free, "av_packet_free")(f.packet_unref, "av_packet_unref");
    codec(f.new_packet, "av_new_packet");
    TRY(codec.result());
    Lookup util(library->util_);
    util(f.frame_alloc, "av_frame_alloc")(f.frame_free, "av_frame_free")(f.frame_unref, "av_frame_unref");
    util(f.frame_get_buffer, "av_frame_get_buffer")(f.mallocz, "av_mallocz");
    util(f.channel_layout_default, "av_channel_layout_default")(f.channel_layout_compare, "av_channel_layout_compare");
    util(f.channel_layout_copy, "av_channel_layout_copy")(f.channel_layout_uninit, "av_channel_layout_uninit");
    util(f.opt_set, "av_opt_set")(f.strerror, "av_strerror")(f.log_set_level, "av_log_set_level");
    TRY(util.result());
    Lookup resample(library->resample_);
    resample(f.swr_alloc_set_opts, "swr_alloc_set_opts2")(f.swr_init, "swr_init")(f.swr_free, "swr_free");
    resample(f.swr_convert, "swr_convert")(f.swr_get_delay, "swr_get_delay");
    TRY(resample.result());
    // They write to the standard error output otherwise; what goes wrong is returned as well.
    f.log_set_level(AV_LOG_QUIET);
    return library;
}

Error AvLibrary::error(Errc code, const char* doing, int av_code) const {
    std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
    functions_.strerror(av_code, text.data(), text.size());
    return {code, std::string(doing) + ": " + text.data()};
}

}  // namespace live::service::transcode
