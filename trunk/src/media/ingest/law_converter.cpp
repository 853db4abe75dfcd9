#include "media/ingest/law_converter.hpp"

#include <utility>

#include "base/log/log_format.hpp"

namespace live::media {

using wire::codec::Codec;
using wire::codec::Content;
using wire::codec::Frame;

namespace {

Frame frame_of(AudioFrame audio) { return {.codec = Codec::aac, .dts = audio.time, .data = std::move(audio.data)}; }

}  // namespace

void LawConverter::start(Codec codec) {
    codec_ = codec;
    has_config_ = false;
    first_.reset();
    transcoder_.reset();
    Result<std::unique_ptr<AudioTranscoder>> made = Error(Errc::unsupported, "this server has no transcoder");
    if (transcoders_ != nullptr)
        made = transcoders_->create({codec, {}, Codec::aac, options_.aac_bitrate}, listener_);
    if (made.ok())
        transcoder_ = *std::move(made);
    else
        LOG_WARN(log_, "{} cannot be converted to AAC: {}. It is published unchanged, which few players support", name_of(codec),
                 made.error().text());
}

bool LawConverter::push(const Frame& frame, TimePoint arrived) {
    if (frame.codec != codec_)
        start(frame.codec);
    if (transcoder_ == nullptr)
        return false;
    if (!meter_.take(audio_in(frame.codec, frame.data.bytes(), 0), arrived)) {
        transcoders_->note_too_fast();
        return true;
    }
    if (const auto pushed = transcoder_->push(frame.data.bytes(), frame.dts); !pushed.ok())
        note(pushed.error());
    return true;
}

std::optional<Frame> LawConverter::next() {
    if (auto audio = std::exchange(first_, std::nullopt))
        return frame_of(*std::move(audio));
    while (transcoder_ != nullptr) {
        auto audio = transcoder_->poll();
        if (!audio.ok()) {
            note(audio.error());
            continue;
        }
        if (!audio->has_value())
            break;
        if (has_config_)
            return frame_of(**std::move(audio));
        has_config_ = true;
        first_ = **std::move(audio);
        auto config = frame_of({Slice::copy_of(transcoder_->config()), first_->time});
        config.content = Content::config;
        return config;
    }
    return std::nullopt;
}

void LawConverter::note(const Error& error) {
    if (error.code() == Errc::limit)
        transcoders_->note_left_out();
    if (broken_++ == 0)
        LOG_WARN(log_, "{} could not be converted to AAC ({}); further errors are only counted", name_of(codec_), error.text());
}

}  // namespace live::media
