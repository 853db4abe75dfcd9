// Playlists and their text, for the writer and reader tests and the fuzz target's seeds.
#pragma once

#include <string_view>
#include <vector>

#include "wire/hls/playlist.hpp"

namespace live::wire::hls {

struct PlaylistVector {
    const char* name;
    MediaPlaylist playlist;
    std::string_view text;
    bool is_read_back = true;  // false: contains parts, which are not read
};

inline Segment plain_segment(std::string uri, MediaTime duration, bool discontinuity = false) {
    Segment segment;
    segment.uri = std::move(uri);
    segment.duration = duration;
    segment.discontinuity = discontinuity;
    return segment;
}

inline Key key_number(std::string uri, std::uint8_t first) { return {std::move(uri), {first, 0x0F, 0xF0}}; }

inline PlaylistVector two_segments() {
    return {"two segments",
            {.media_sequence = 12,
             .target_duration = 4s,
             .segments = {plain_segment("cam-12.ts", 3'336ms), plain_segment("cam-13.ts", 3'003ms, true)}},
            "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-MEDIA-SEQUENCE:12\n#EXT-X-TARGETDURATION:4\n#EXTINF:3.336, no desc\ncam-12.ts\n"
            "#EXT-X-DISCONTINUITY\n#EXTINF:3.003, no desc\ncam-13.ts\n"};
}

inline PlaylistVector keys_and_gap() {
    PlaylistVector vector{"keys and a gap",
                          {.media_sequence = 4, .discontinuity_sequence = 2, .target_duration = 2s},
                          "#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-MEDIA-SEQUENCE:4\n#EXT-X-DISCONTINUITY-SEQUENCE:2\n"
                          "#EXT-X-TARGETDURATION:2\n"
                          "#EXT-X-KEY:METHOD=AES-128,URI=\"k/cam-0.key\",IV=0x010ff000000000000000000000000000\n"
                          "#EXTINF:2.000, no desc\na-4.ts\n"
                          "#EXT-X-KEY:METHOD=AES-128,URI=\"k/cam-5.key\",IV=0x020ff000000000000000000000000000\n"
                          "#EXT-X-GAP\n#EXTINF:1.500, no desc\na-5.ts\n#EXTINF:2.000, no desc\na-6.ts\n"
                          "#EXT-X-KEY:METHOD=NONE\n#EXTINF:0.120, no desc\na-7.ts\n"};
    auto& segments = vector.playlist.segments;
    segments = {plain_segment("a-4.ts", 2s), plain_segment("a-5.ts", 1'500ms), plain_segment("a-6.ts", 2s),
                plain_segment("a-7.ts", 120ms)};
    segments[0].key = key_number("k/cam-0.key", 1);
    segments[1].key = segments[2].key = key_number("k/cam-5.key", 2);
    segments[1].gap = true;
    return vector;
}

inline PlaylistVector low_latency() {
    PlaylistVector vector{
        "low latency",
        {.media_sequence = 7, .target_duration = 2s},
        "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-TARGETDURATION:2\n"
        "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=0.6,CAN-SKIP-UNTIL=12\n#EXT-X-PART-INF:PART-TARGET=0.2\n"
        "#EXT-X-MAP:URI=\"init.mp4\"\n#EXTINF:2.000, no desc\na-7.m4s\n"
        "#EXT-X-PART:DURATION=0.2,URI=\"a-8.0.m4s\",INDEPENDENT=YES\n#EXT-X-PART:DURATION=0.183333,URI=\"a-8.1.m4s\"\n"
        "#EXTINF:0.383, no desc\na-8.m4s\n"
        "#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"init-1.mp4\"\n"
        "#EXT-X-PART:DURATION=0.2,URI=\"a-9.0.m4s\",INDEPENDENT=YES\n"
        "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"a-9.1.m4s\"\n"
        "#EXT-X-RENDITION-REPORT:URI=\"../low/cam.m3u8\",LAST-MSN=9,LAST-PART=0\n",
        false};
    auto& segments = vector.playlist.segments;
    segments = {plain_segment("a-7.m4s", 2s), plain_segment("a-8.m4s", 383'333us)};
    segments[0].map = segments[1].map = "init.mp4";
    segments[1].parts = {{"a-8.0.m4s", 200ms, true}, {"a-8.1.m4s", 183'333us, false}};
    LowLatency low;
    low.part_target = 200ms;
    low.can_skip_until = 12s;
    low.open.discontinuity = true;
    low.open.map = "init-1.mp4";
    low.open.parts = {{"a-9.0.m4s", 200ms, true}};
    low.hint = "a-9.1.m4s";
    low.reports = {{"../low/cam.m3u8", 9, 0}};
    vector.playlist.low_latency = low;
    return vector;
}

inline PlaylistVector delta_update() {
    PlaylistVector vector{"delta update",
                          {.media_sequence = 3, .target_duration = 1s, .skipped = 2},
                          "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-MEDIA-SEQUENCE:3\n#EXT-X-TARGETDURATION:1\n"
                          "#EXT-X-SKIP:SKIPPED-SEGMENTS=2\n#EXTINF:1.000, no desc\na-5.m4s\n",
                          false};
    auto& segments = vector.playlist.segments;
    segments = {plain_segment("a-3.m4s", 1s), plain_segment("a-4.m4s", 1s), plain_segment("a-5.m4s", 1s)};
    for (Segment& segment : segments)
        segment.map = "init.mp4";
    return vector;
}

inline PlaylistVector dates() {
    PlaylistVector vector{"dates",
                          {.media_sequence = 8, .discontinuity_sequence = 1, .target_duration = 2s},
                          "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-MEDIA-SEQUENCE:8\n#EXT-X-INDEPENDENT-SEGMENTS\n"
                          "#EXT-X-DISCONTINUITY-SEQUENCE:1\n#EXT-X-TARGETDURATION:2\n"
                          "#EXT-X-PROGRAM-DATE-TIME:2026-11-27T14:05:09.042Z\n#EXTINF:2.000, no desc\na-8.ts\n"
                          "#EXTINF:2.000, no desc\na-9.ts\n#EXT-X-DISCONTINUITY\n"
                          "#EXT-X-PROGRAM-DATE-TIME:2026-11-27T15:00:00.000Z\n#EXTINF:1.000, no desc\na-10.ts\n"};
    vector.playlist.independent = true;
    auto& segments = vector.playlist.segments;
    segments = {plain_segment("a-8.ts", 2s), plain_segment("a-9.ts", 2s), plain_segment("a-10.ts", 1s, true)};
    segments[0].date = UtcTime(std::chrono::milliseconds(1'795'788'309'042));
    segments[2].date = UtcTime(std::chrono::milliseconds(1'795'791'600'000));
    return vector;
}

inline std::vector<PlaylistVector> playlist_vectors() {
    return {{"nothing yet",
             {.target_duration = 10s},
             "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-TARGETDURATION:10\n"},
            two_segments(),
            keys_and_gap(),
            dates(),
            low_latency(),
            delta_update()};
}

}  // namespace live::wire::hls
