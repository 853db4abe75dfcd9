#include "service/hls/timed/subtitles.hpp"

#include <algorithm>
#include <utility>

#include "wire/ts/clock.hpp"
#include "wire/ts/write/muxer.hpp"

namespace live::service::hls {

namespace webvtt = wire::webvtt;

std::string language_of(std::string_view tag) {
    std::string language;
    for (const char letter : tag) {
        const bool is_upper = letter >= 'A' && letter <= 'Z';
        const bool is_good = is_upper || (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
        if (!is_good)
            return "";
        language += is_upper ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
    return language.starts_with('-') ? "" : language;
}

bool Subtitles::add(const media::TimedEvent& text, MediaTime lead) {
    lead_ = lead;
    webvtt::Cue cue{text.at, text.at + text.duration, webvtt::lines_of(as_text(text.data.bytes()))};
    const std::size_t bytes = sizeof(Line) + cue.text.size();
    if (cue.text.empty() || cue.end <= cue.start || lines_.size() == kCuesMax || bytes_ + bytes > kBytesMax)
        return false;
    const std::string language = language_of(text.language);
    auto known = std::ranges::find(languages_, language);
    if (known == languages_.end()) {
        if (languages_.size() == kLanguagesMax)
            return false;
        known = languages_.insert(languages_.end(), language);
    }
    bytes_ += bytes;
    lines_.push_back({static_cast<std::size_t>(known - languages_.begin()), std::move(cue)});
    return true;
}

std::string Subtitles::segment(const std::string& language, MediaTime start, MediaTime duration, Container video) const {
    std::vector<webvtt::Cue> cues;
    const MediaTime shown = start + lead_;
    for (const Line& line : lines_)
        if (languages_[line.language] == language && line.cue.start < shown + duration && line.cue.end > shown)
            cues.push_back(line.cue);
    std::ranges::stable_sort(cues, {}, &webvtt::Cue::start);
    // The map has whole milliseconds.
    const MediaTime at = std::chrono::floor<std::chrono::milliseconds>(std::max(start, MediaTime{}));
    const MediaTime delay = video == Container::ts ? wire::ts::Muxer::kDecodeDelay : MediaTime{};
    return webvtt::write_segment(at, wire::ts::ticks_of(at + delay), cues);
}

void Subtitles::forget_before(MediaTime time) {
    std::erase_if(lines_, [this, time](const Line& line) {
        const bool is_over = line.cue.end <= time + lead_;
        bytes_ -= is_over ? sizeof(Line) + line.cue.text.size() : 0;
        return is_over;
    });
}

void Subtitles::clear() {
    lines_.clear();
    bytes_ = 0;
}

}  // namespace live::service::hls
