#include "service/dash/mpd_reader.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text/utc_text.hpp"

namespace live::service::dash {

namespace {

constexpr std::string_view kInitBefore = "$RepresentationID$-init";
constexpr std::string_view kInitAfter = ".mp4";

// Returns the value of an attribute in a tag. The values of text_of() contain no quotation mark.
std::optional<std::string_view> value_of(std::string_view tag, std::string_view name) {
    const std::string before = " " + std::string(name) + "=\"";
    const auto at = tag.find(before);
    if (at == std::string_view::npos)
        return std::nullopt;
    const std::string_view rest = tag.substr(at + before.size());
    const auto end = rest.find('"');
    return end == std::string_view::npos ? std::nullopt : std::optional(rest.substr(0, end));
}

Result<std::uint64_t> number_from(std::string_view digits) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size() || number > kMpdNumberMax)
        return Error(Errc::malformed, "not a number");
    return number;
}

Result<std::uint64_t> number_in(std::string_view tag, std::string_view name) {
    const auto value = value_of(tag, name);
    if (!value)
        return Error(Errc::malformed, "an attribute is missing");
    return number_from(*value);
}

bool is_id(std::string_view text) {
    return !text.empty() && text.size() <= 32 && std::ranges::all_of(text, [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
    });
}

class Reader {
public:
    Result<void> read(std::string_view tag) {
        const std::string_view name = tag.substr(0, tag.find(' '));
        if (name == "MPD")
            read_.began = TRY(parse_utc_text(value_of(tag, "availabilityStartTime").value_or("")));
        else if (name == "Period")
            begin_period();
        else if (name == "Representation")
            TRY(begin_track(value_of(tag, "id").value_or("")));
        else if (name == "SegmentTemplate")
            TRY(read_template(tag));
        else if (name == "S")
            TRY(read_segment(tag));
        return {};
    }

    Result<ReadMpd> take() {
        const auto count = read_.tracks.empty() ? 0 : read_.tracks.front().segments.size();
        const auto is_other = [count](const ReadMpd::Track& track) { return track.segments.size() != count; };
        if (count == 0 || templates_ != read_.tracks.size() || std::ranges::any_of(read_.tracks, is_other))
            return Error(Errc::malformed, "tracks differ, or have no segments");
        return std::move(read_);
    }

private:
    // The newest one is the last.
    void begin_period() {
        read_.tracks.clear();
        templates_ = 0;
    }

    Result<void> begin_track(std::string_view id) {
        if (read_.tracks.size() == kMpdTracksMax)
            return Error(Errc::limit, "too many tracks");
        if (!is_id(id))
            return Error(Errc::malformed, "not a track of ours");
        read_.tracks.push_back({std::string(id), {}});
        return {};
    }

    Result<void> read_template(std::string_view tag) {
        const std::string_view init = value_of(tag, "initialization").value_or("");
        if (!init.starts_with(kInitBefore) || !init.ends_with(kInitAfter) || init.size() < kInitBefore.size() + kInitAfter.size())
            return Error(Errc::malformed, "not a header of ours");
        const auto suffix = init.substr(kInitBefore.size(), init.size() - kInitBefore.size() - kInitAfter.size());
        if (!suffix.empty() && suffix.front() != '-')
            return Error(Errc::malformed, "not a header of ours");
        const std::uint64_t number = suffix.empty() ? 0 : TRY(number_from(suffix.substr(1)));
        const std::uint64_t first = TRY(number_in(tag, "startNumber"));
        if (TRY(number_in(tag, "timescale")) != 1'000)
            return Error(Errc::malformed, "other units than ours");
        const auto offset = value_of(tag, "presentationTimeOffset");
        read_.period_start = std::chrono::milliseconds(offset ? TRY(number_from(*offset)) : 0);
        if (templates_ > 0 && (first != read_.first_number || number != read_.init_number))
            return Error(Errc::malformed, "tracks differ");
        read_.first_number = first;
        read_.init_number = number;
        ++templates_;
        return {};
    }

    // In order.
    Result<void> read_segment(std::string_view tag) {
        const auto start = std::chrono::milliseconds(TRY(number_in(tag, "t")));
        const auto duration = std::chrono::milliseconds(TRY(number_in(tag, "d")));
        if (read_.tracks.empty() || templates_ != read_.tracks.size())
            return Error(Errc::malformed, "a segment of no track");
        std::vector<MpdSegment>& segments = read_.tracks.back().segments;
        if (!segments.empty() && start < segments.back().start)
            return Error(Errc::malformed, "a segment begins before the one before");
        segments.push_back({start, duration});
        return {};
    }

    ReadMpd read_;
    std::size_t templates_ = 0;
};

}  // namespace

Result<ReadMpd> read_mpd(std::string_view text) {
    if (text.size() > kMpdBytesMax)
        return Error(Errc::limit, "an MPD of too many bytes");
    if (!text.ends_with("</MPD>\n"))
        return Error(Errc::malformed, "not a whole MPD of ours");
    Reader reader;
    bool is_mpd = false;
    for (auto at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
        const auto end = text.find('>', at);
        if (end == std::string_view::npos)
            return Error(Errc::malformed, "an open tag");
        const std::string_view tag = text.substr(at + 1, end - at - 1);
        is_mpd = is_mpd || tag.starts_with("MPD ");
        TRY(reader.read(tag));
        at = end;
    }
    if (!is_mpd)
        return Error(Errc::malformed, "no MPD");
    return reader.take();
}

}  // namespace live::service::dash
