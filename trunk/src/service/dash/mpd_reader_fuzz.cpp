// Arbitrary bytes as an MPD: they are refused, or the written MPD reads back as the same.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "service/dash/mpd_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::service::dash;
    const auto read = read_mpd(as_text(Bytes(data, size)));
    if (!read.ok())
        return 0;
    CHECK(!read->tracks.empty() && read->tracks.size() <= kMpdTracksMax);
    Mpd mpd;
    mpd.began = read->began;
    mpd.init_number = read->init_number;
    mpd.first_number = read->first_number;
    for (const ReadMpd::Track& track : read->tracks) {
        CHECK(!track.segments.empty() && track.segments.size() == read->tracks.front().segments.size());
        MpdTrack& written = mpd.tracks.emplace_back();
        written.id = track.id;
        written.format.kind = MediaKind::audio;
        written.segments = track.segments;
    }
    const std::string text = text_of(mpd);
    if (text.size() > kMpdBytesMax)
        return 0;
    const auto again = read_mpd(text);
    CHECK(again.ok() && again->began == read->began && again->init_number == read->init_number &&
          again->first_number == read->first_number && again->tracks.size() == read->tracks.size());
    for (std::size_t i = 0; i < read->tracks.size(); ++i) {
        CHECK(again->tracks[i].id == read->tracks[i].id);
        CHECK(again->tracks[i].segments.back().start == read->tracks[i].segments.back().start);
    }
    return 0;
}
