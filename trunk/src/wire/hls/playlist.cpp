#include "wire/hls/playlist.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace live::wire::hls {

namespace {

constexpr int kHoldBackParts = 3;  // 8216bis, 4.4.3.8: at least twice, should be three times the part target

double seconds(MediaTime time) { return std::chrono::duration<double>(time).count(); }

// In microsecond precision, without trailing zeros.
std::string exact(MediaTime time) {
    std::string text = fmt::format("{:.6f}", seconds(time));
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
        text.pop_back();
    return text;
}

// RFC 8216, 7, and 8216bis, 8: the lowest version that has every tag in use.
int version_of(const MediaPlaylist& playlist) {
    constexpr int kSkip = 9;
    constexpr int kGap = 8;
    constexpr int kMap = 7;
    constexpr int kDecimals = 3;
    if (playlist.low_latency || playlist.skipped > 0)
        return kSkip;
    if (std::ranges::any_of(playlist.segments, &Segment::gap))
        return kGap;
    return std::ranges::any_of(playlist.segments, [](const Segment& segment) { return !segment.map.empty(); }) ? kMap : kDecimals;
}

std::string hex_text(const std::vector<std::uint8_t>& bytes) { return fmt::format("0x{:02X}", fmt::join(bytes, "")); }

// Writes the tags before segments.
class Tags {
public:
    explicit Tags(std::string& out) : out_(out) {}

    // Skips a segment, keeping its key and map in effect.
    void skip(const Segment& segment) {
        key_ = segment.key;
        map_ = segment.map;
    }
    void write(const Segment& segment) {
        if (segment.discontinuity)
            out_ += "#EXT-X-DISCONTINUITY\n";
        // 4.3.2.4: a key before a map would apply to the map too.
        const bool has_new_map = !segment.map.empty() && segment.map != map_;
        if (has_new_map && key_) {
            out_ += "#EXT-X-KEY:METHOD=NONE\n";
            key_.reset();
        }
        if (has_new_map)
            out_ += fmt::format("#EXT-X-MAP:URI=\"{}\"\n", segment.map);
        if (segment.key != key_)
            out_ += segment.key ? fmt::format("#EXT-X-KEY:METHOD=AES-128,URI=\"{}\",IV=0x{}\n", segment.key->uri,
                                              fmt::format("{:02x}", fmt::join(segment.key->iv, "")))
                                : std::string("#EXT-X-KEY:METHOD=NONE\n");
        if (segment.date)
            out_ += fmt::format("#EXT-X-PROGRAM-DATE-TIME:{}\n", utc_text(*segment.date));
        if (segment.cue)
            out_ += cue_tag_text(*segment.cue);
        skip(segment);
        for (const Part& part : segment.parts)
            out_ += fmt::format("#EXT-X-PART:DURATION={},URI=\"{}\"{}{}\n", exact(part.duration), part.uri,
                                part.independent ? ",INDEPENDENT=YES" : "", part.gap ? ",GAP=YES" : "");
    }

private:
    std::string& out_;
    std::optional<Key> key_;
    std::string map_;
};

// 4.2: no line ends, no quotes; and no other control characters.
std::string quotable(std::string_view text) {
    std::string out;
    for (const char letter : text)
        if (static_cast<unsigned char>(letter) >= ' ' && letter != '"')
            out += letter;
    return out;
}

void write_low_latency_head(const MediaPlaylist& playlist, std::string& out) {
    const LowLatency& low = *playlist.low_latency;
    out += "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES";
    out += fmt::format(",PART-HOLD-BACK={}", exact(low.part_target * kHoldBackParts));
    if (low.can_skip_until > MediaTime::zero())
        out += fmt::format(",CAN-SKIP-UNTIL={}", exact(low.can_skip_until));
    out += fmt::format("\n#EXT-X-PART-INF:PART-TARGET={}\n", exact(low.part_target));
}

void write_low_latency_end(const LowLatency& low, Tags& tags, std::string& out) {
    if (!low.open.parts.empty())
        tags.write(low.open);
    if (!low.hint.empty())
        out += fmt::format("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"{}\"\n", low.hint);
    for (const RenditionReport& report : low.reports) {
        out += fmt::format("#EXT-X-RENDITION-REPORT:URI=\"{}\",LAST-MSN={}", report.uri, report.last_segment);
        if (report.last_part)
            out += fmt::format(",LAST-PART={}", *report.last_part);
        out += '\n';
    }
}

}  // namespace

std::string cue_tag_text(const CueTag& cue) {
    const std::string duration = cue.duration ? exact(*cue.duration) : std::string();
    switch (cue.kind) {
        case CueTag::Kind::out: return "#EXT-X-CUE-OUT" + (cue.duration ? ":" + duration : duration) + '\n';
        case CueTag::Kind::more:
            return "#EXT-X-CUE-OUT-CONT:" + exact(cue.elapsed) + (cue.duration ? "/" + duration : duration) + '\n';
        case CueTag::Kind::in: return "#EXT-X-CUE-IN\n";
    }
    return {};
}

void write_date_range(const DateRange& range, std::string& out) {
    const std::string head = fmt::format("#EXT-X-DATERANGE:ID=\"{}\",START-DATE=\"{}\"", range.id, utc_text(range.start));
    out += head;
    if (range.planned)
        out += fmt::format(",PLANNED-DURATION={}", exact(*range.planned));
    if (!range.out.empty())
        out += ",SCTE35-OUT=" + hex_text(range.out);
    if (!range.command.empty())
        out += ",SCTE35-CMD=" + hex_text(range.command);
    // A range that only ends a break has one tag.
    if (!range.end || range.in.empty()) {
        out += '\n';
        return;
    }
    if (!range.out.empty())
        out += '\n' + head;
    out += fmt::format(",END-DATE=\"{}\",DURATION={},SCTE35-IN={}\n", utc_text(*range.end),
                       exact(std::max<MediaTime>(*range.end - range.start, {})), hex_text(range.in));
}

std::string write_media_playlist(const MediaPlaylist& playlist) {
    std::string out =
        fmt::format("#EXTM3U\n#EXT-X-VERSION:{}\n#EXT-X-MEDIA-SEQUENCE:{}\n", version_of(playlist), playlist.media_sequence);
    if (playlist.independent)
        out += "#EXT-X-INDEPENDENT-SEGMENTS\n";
    if (playlist.discontinuity_sequence > 0)
        out += fmt::format("#EXT-X-DISCONTINUITY-SEQUENCE:{}\n", playlist.discontinuity_sequence);
    const auto target = std::chrono::ceil<std::chrono::seconds>(playlist.target_duration);
    out += fmt::format("#EXT-X-TARGETDURATION:{}\n", target.count());
    if (playlist.low_latency)
        write_low_latency_head(playlist, out);
    if (playlist.skipped > 0)
        out += fmt::format("#EXT-X-SKIP:SKIPPED-SEGMENTS={}\n", playlist.skipped);
    for (const DateRange& range : playlist.date_ranges)
        write_date_range(range, out);
    Tags tags(out);
    for (std::size_t i = 0; i < playlist.segments.size(); ++i) {
        const Segment& segment = playlist.segments[i];
        if (i < playlist.skipped) {
            tags.skip(segment);
            continue;
        }
        tags.write(segment);
        if (segment.gap)
            out += "#EXT-X-GAP\n";
        out += fmt::format("#EXTINF:{:.3f}, no desc\n{}\n", seconds(segment.duration), segment.uri);
    }
    if (playlist.low_latency)
        write_low_latency_end(*playlist.low_latency, tags, out);
    return out;
}

namespace {

std::string media_tag(std::string_view type, const Rendition& rendition) {
    std::string tag =
        fmt::format("#EXT-X-MEDIA:TYPE={},GROUP-ID=\"{}\",NAME=\"{}\"", type, rendition.group, quotable(rendition.name));
    if (!rendition.language.empty())
        tag += fmt::format(",LANGUAGE=\"{}\"", quotable(rendition.language));
    return tag + fmt::format(",DEFAULT={},AUTOSELECT=YES,URI=\"{}\"\n", rendition.is_default ? "YES" : "NO", rendition.uri);
}

}  // namespace

std::string write_master_playlist(const std::vector<Variant>& variants, const std::vector<Rendition>& audio,
                                  const std::optional<ClosedCaptions>& captions, const std::vector<Rendition>& subtitles) {
    std::string out = "#EXTM3U\n";
    for (const Rendition& rendition : audio)
        out += media_tag("AUDIO", rendition);
    for (const Rendition& rendition : subtitles)
        out += media_tag("SUBTITLES", rendition);
    // The first one is shown to viewers who ask for captions.
    for (const std::string& service : captions.value_or(ClosedCaptions()))
        out += fmt::format(
            "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"cc\",NAME=\"{0}\",DEFAULT={1},AUTOSELECT={1},INSTREAM-ID=\"{0}\"\n",
            service, service == captions->front() ? "YES" : "NO");
    for (const Variant& variant : variants) {
        out += fmt::format("#EXT-X-STREAM-INF:BANDWIDTH={},AVERAGE-BANDWIDTH={}", variant.bandwidth, variant.average_bandwidth);
        if (!variant.codecs.empty())
            out += fmt::format(",CODECS=\"{}\"", variant.codecs);
        if (variant.width > 0 && variant.height > 0)
            out += fmt::format(",RESOLUTION={}x{}", variant.width, variant.height);
        if (variant.frame_rate > 0)
            out += fmt::format(",FRAME-RATE={:.3f}", variant.frame_rate);
        if (!variant.audio_group.empty())
            out += fmt::format(",AUDIO=\"{}\"", variant.audio_group);
        if (!subtitles.empty())
            out += fmt::format(",SUBTITLES=\"{}\"", subtitles.front().group);
        if (captions)
            out += captions->empty() ? ",CLOSED-CAPTIONS=NONE" : ",CLOSED-CAPTIONS=\"cc\"";
        out += fmt::format("\n{}\n", variant.uri);
    }
    return out;
}

}  // namespace live::wire::hls
