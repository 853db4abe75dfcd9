#include "service/dash/mpd.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes/base64.hpp"
#include "base/text/utc_text.hpp"
#include "wire/http/target.hpp"

namespace live::service::dash {

namespace {

std::int64_t to_ms(MediaTime time) { return std::chrono::round<std::chrono::milliseconds>(time).count(); }

// Formats an xs:duration.
std::string duration_text(MediaTime time) { return fmt::format("PT{:.3f}S", std::chrono::duration<double>(time).count()); }

std::string date_text(std::chrono::system_clock::time_point time) {
    return utc_text(std::chrono::floor<std::chrono::milliseconds>(time));
}

// Escapes an attribute in double quotes, or text.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        switch (letter) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += letter;
        }
    }
    return out;
}

bool is_audio(const MpdTrack& track) { return track.format.kind == MediaKind::audio; }

// The last segment's duration in the track that determines segment boundaries.
MediaTime last_duration(const Mpd& mpd) {
    const auto video = std::ranges::find_if_not(mpd.tracks, is_audio);
    return (video == mpd.tracks.end() ? mpd.tracks.front() : *video).segments.back().duration;
}

// 5.3.9.5.3: the last segment may be requested once its first chunk is available.
std::string chunks_text(const Mpd& mpd) {
    if (!mpd.chunk)
        return "";
    const MediaTime early = std::max(MediaTime(), last_duration(mpd) - *mpd.chunk);
    return fmt::format(" availabilityTimeOffset=\"{:.3f}\" availabilityTimeComplete=\"false\"",
                       std::chrono::duration<double>(early).count());
}

std::string template_text(const Mpd& mpd, const MpdPeriod& period, const MpdTrack& track) {
    // The times of segments are those of the whole presentation: in a period they begin with its start.
    const std::string offset =
        period.start > MediaTime{} ? fmt::format(" presentationTimeOffset=\"{}\"", to_ms(period.start)) : "";
    std::string text = fmt::format(
        "        <SegmentTemplate initialization=\"$RepresentationID$-init{}.mp4\" media=\"$RepresentationID$-$Number$.m4s\" "
        "startNumber=\"{}\" timescale=\"1000\"{}{}>\n          <SegmentTimeline>\n",
        init_suffix(period.init_number), period.first_number, offset, chunks_text(mpd));
    for (const MpdSegment& segment : track.segments)
        text += fmt::format("            <S t=\"{}\" d=\"{}\"/>\n", to_ms(segment.start), listed_duration(segment).count());
    return text + "          </SegmentTimeline>\n        </SegmentTemplate>\n";
}

std::string representation_text(const Mpd& mpd, const MpdPeriod& period, const MpdTrack& track) {
    const std::string size = is_audio(track) ? fmt::format("audioSamplingRate=\"{}\"", track.format.sample_rate)
                                             : fmt::format("width=\"{}\" height=\"{}\"", track.format.width, track.format.height);
    return fmt::format("      <Representation id=\"{}\" bandwidth=\"{}\" codecs=\"{}\" {}>\n", track.id,
                       std::max<std::uint64_t>(track.bits_a_second, 1), track.format.codecs, size) +
           template_text(mpd, period, track) + "      </Representation>\n";
}

// Players switch between representations within a set automatically, so these must share one codec; viewers choose between sets.
bool are_in_one_set(const MpdTrack& a, const MpdTrack& b) {
    constexpr std::size_t kFourCc = 4;
    return !is_audio(a) && !is_audio(b) && a.format.codecs.substr(0, kFourCc) == b.format.codecs.substr(0, kFourCc);
}

// 5.8.5.5: the role of a set, when there are several.
std::string role_text(const MpdTrack& track) {
    return fmt::format("      <Role schemeIdUri=\"urn:mpeg:dash:role:2011\" value=\"{}\"/>\n",
                       track.is_extra ? "alternate" : "main");
}

// ANSI/SCTE 214-1, 7.2: the captions in the video; languages are unknown.
std::string captions_text(const std::vector<const MpdTrack*>& tracks) {
    wire::codec::CaptionServices all;
    for (const MpdTrack* track : tracks) {
        all.channels |= track->captions.channels;
        all.services |= track->captions.services;
    }
    std::string channels;
    std::string services;
    for (const std::string& name : all.names()) {
        constexpr std::string_view kService = "SERVICE";
        const bool is_service = name.starts_with(kService);
        std::string& list = is_service ? services : channels;
        list += (list.empty() ? "" : ";") + (is_service ? name.substr(kService.size()) + "=lang:und" : name + "=und");
    }
    constexpr auto kTag = "      <Accessibility schemeIdUri=\"urn:scte:dash:cc:cea-{}:2015\" value=\"{}\"/>\n";
    std::string text;
    if (!channels.empty())
        text += fmt::format(kTag, "608", channels);
    if (!services.empty())
        text += fmt::format(kTag, "708", services);
    return text;
}

std::string set_text(const Mpd& mpd, const MpdPeriod& period, const std::vector<const MpdTrack*>& tracks, bool has_siblings) {
    const MpdTrack& first = *tracks.front();
    const std::string kind = is_audio(first) ? "audio" : "video";
    std::string text = fmt::format(
        "    <AdaptationSet contentType=\"{0}\" mimeType=\"{0}/mp4\" segmentAlignment=\"true\" startWithSAP=\"1\"{1}>\n", kind,
        first.language.empty() ? "" : fmt::format(" lang=\"{}\"", escaped(first.language)));
    const bool carries_tags = kind == std::string_view("video") || std::ranges::all_of(period.tracks, is_audio);
    // Also before the first tag: players read messages of announced schemes only, and load the list after the first one.
    if (carries_tags)
        text += "      <InbandEventStream schemeIdUri=\"https://aomedia.org/emsg/ID3\" value=\"\"/>\n";
    text += captions_text(tracks);
    if (has_siblings)
        text += role_text(first);
    if (!first.label.empty())
        text += fmt::format("      <Label>{}</Label>\n", escaped(first.label));
    for (const MpdTrack* track : tracks)
        text += representation_text(mpd, period, *track);
    return text + "    </AdaptationSet>\n";
}

// The events that are not over when the first listed segment begins.
std::string events_text(const Mpd& mpd, const MpdPeriod& period) {
    const MediaTime from = period.tracks.front().segments.empty() ? period.start : period.tracks.front().segments.front().start;
    std::string text;
    for (const MpdEvent& event : mpd.events) {
        if (event.time + event.duration.value_or(MediaTime{}) < from)
            continue;
        text += fmt::format(
            "      <Event presentationTime=\"{}\"{} id=\"{}\"><Signal xmlns=\"http://www.scte.org/schemas/35/2016\">",
            to_ms(event.time), event.duration ? fmt::format(" duration=\"{}\"", to_ms(*event.duration)) : "", event.id);
        text += fmt::format("<Binary>{}</Binary></Signal></Event>\n", base64(event.section));
    }
    if (text.empty())
        return text;
    const std::string offset =
        period.start > MediaTime{} ? fmt::format(" presentationTimeOffset=\"{}\"", to_ms(period.start)) : "";
    return fmt::format("    <EventStream schemeIdUri=\"urn:scte:scte35:2014:xml+bin\" timescale=\"1000\"{}>\n", offset) + text +
           "    </EventStream>\n";
}

std::string period_text(const Mpd& mpd, const MpdPeriod& period) {
    std::vector<std::vector<const MpdTrack*>> sets;
    for (const MpdTrack& track : period.tracks) {
        const auto set =
            std::ranges::find_if(sets, [&track](const auto& other) { return are_in_one_set(*other.front(), track); });
        (set == sets.end() ? sets.emplace_back() : *set).push_back(&track);
    }
    const std::string start = period.start > MediaTime{} ? duration_text(period.start) : "PT0S";
    std::string text = fmt::format("  <Period id=\"{}\" start=\"{}\">\n", period.init_number, start);
    text += events_text(mpd, period);
    for (const auto& set : sets) {
        const auto same_kind =
            std::ranges::count_if(sets, [&set](const auto& other) { return is_audio(*other.front()) == is_audio(*set.front()); });
        text += set_text(mpd, period, set, same_kind > 1);
    }
    return text + "  </Period>\n";
}

}  // namespace

std::chrono::milliseconds listed_duration(const MpdSegment& segment) {
    return std::chrono::milliseconds(to_ms(segment.start + segment.duration) - to_ms(segment.start));
}

std::string init_suffix(std::uint64_t number) { return number == 0 ? "" : fmt::format("-{}", number); }

std::string text_of(const Mpd& mpd) {
    const MediaTime last = last_duration(mpd);
    std::string text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n";
    text += fmt::format(
        "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" profiles=\"urn:mpeg:dash:profile:isoff-live:2011\" type=\"dynamic\" "
        "minimumUpdatePeriod=\"{}\" timeShiftBufferDepth=\"{}\" availabilityStartTime=\"{}\" publishTime=\"{}\" "
        "minBufferTime=\"{}\">\n",
        duration_text(mpd.update_period), duration_text(last * mpd.window_size), date_text(mpd.began), date_text(mpd.written),
        duration_text(2 * mpd.chunk.value_or(last)));
    text += fmt::format("  <BaseURL>{}</BaseURL>\n", wire::http::percent_encode_path(mpd.folder));
    for (const MpdPeriod& period : mpd.earlier)
        text += period_text(mpd, period);
    text += period_text(mpd, mpd);
    // 5.8.4.11. Players resolve it as a segment's URL.
    return text + fmt::format("  <UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:http-iso:2014\" value=\"{}\"/>\n</MPD>\n", kTimeFile);
}

std::string with_query(std::string_view mpd, std::string_view query) {
    const std::string added = escaped(query);
    std::string text;
    while (!mpd.empty()) {
        const std::size_t line = std::min(mpd.find('\n'), mpd.size() - 1) + 1;
        std::string_view rest = mpd.substr(0, line);
        mpd.remove_prefix(line);
        for (const std::string_view name : {" initialization=\"", " media=\"", "utc:http-iso:2014\" value=\""}) {
            const std::size_t at = rest.find(name);
            const std::size_t end = at == std::string_view::npos ? at : rest.find('"', at + name.size());
            if (end == std::string_view::npos)
                continue;
            const bool has_query = rest.substr(0, end).find('?', at) != std::string_view::npos;
            text.append(rest.substr(0, end)).append(has_query ? "&amp;" : "?").append(added);
            rest.remove_prefix(end);
        }
        text += rest;
    }
    return text;
}

}  // namespace live::service::dash
