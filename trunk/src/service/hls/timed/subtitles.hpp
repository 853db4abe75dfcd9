// Subtitles: the lines of subtitles of one stream, by language, until the segments that show them are complete. Dry.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "media/ring/timed_event.hpp"
#include "service/hls/files/container.hpp"
#include "wire/webvtt/webvtt.hpp"

namespace live::service::hls {

class Subtitles {
public:
    // Lines in further languages are dropped.
    static constexpr std::size_t kLanguagesMax = 8;
    // Lines that are not over, in all languages. Further ones are dropped.
    static constexpr std::size_t kCuesMax = 512;
    static constexpr std::size_t kBytesMax = 256U << 10;

    // Adds a line. `lead`: frames are decoded this much before they are shown. Returns false if it is dropped.
    bool add(const media::TimedEvent& text, MediaTime lead);
    // In order of appearance: "" for an unknown language, otherwise a tag of RFC 5646 in lower case.
    const std::vector<std::string>& languages() const { return languages_; }
    // Returns the segment of a language beside one of video, which is decoded from `start` on. It has all lines that are shown
    // meanwhile.
    std::string segment(const std::string& language, MediaTime start, MediaTime duration, Container video) const;
    // Forgets the lines that are over before `time`.
    void forget_before(MediaTime time);
    // Forgets all lines. The languages stay.
    void clear();
    std::size_t bytes() const { return bytes_; }

private:
    struct Line {
        std::size_t language = 0;
        wire::webvtt::Cue cue;
    };

    std::vector<std::string> languages_;
    std::vector<Line> lines_;
    std::size_t bytes_ = 0;
    MediaTime lead_{};
};

// Returns the language tag in lower case; "" for one that is not valid, which may not be in a file name.
std::string language_of(std::string_view tag);

}  // namespace live::service::hls
