#include "wire/webvtt/webvtt.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/bytes/bytes.hpp"
#include "base/bytes/hash.hpp"

namespace live::wire::webvtt {

namespace {

constexpr std::string_view kArrow = "-->";

// Takes a line, without its end: CR, LF or both.
std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view line = text.substr(0, end);
    const bool has_both = text.substr(end, 2) == "\r\n";
    text.remove_prefix(std::min(end + (has_both ? 2U : 1U), text.size()));
    return line;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpaces = " \t\f";
    const std::size_t first = text.find_first_not_of(kSpaces);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

// Takes a number of decimal digits, at least `least` of them.
std::optional<std::int64_t> take_number(std::string_view& text, std::size_t least, std::size_t most) {
    std::int64_t number = 0;
    std::size_t digits = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
        if (digits == most)
            return std::nullopt;
        number = number * 10 + (text[digits] - '0');
    }
    text.remove_prefix(digits);
    return digits < least ? std::nullopt : std::optional(number);
}

bool take(std::string_view& text, char letter) {
    if (!text.starts_with(letter))
        return false;
    text.remove_prefix(1);
    return true;
}

// [hours:]minutes:seconds.milliseconds
std::optional<MediaTime> take_time(std::string_view& text) {
    constexpr std::int64_t kSixty = 60;
    auto first = take_number(text, 2, 5);
    if (!first || !take(text, ':'))
        return std::nullopt;
    auto second = take_number(text, 2, 2);
    if (!second)
        return std::nullopt;
    std::int64_t hours = 0;
    if (take(text, ':')) {
        hours = *first;
        first = second;
        second = take_number(text, 2, 2);
    }
    if (!second || !take(text, '.') || *first >= kSixty || *second >= kSixty)
        return std::nullopt;
    const auto millis = take_number(text, 3, 3);
    if (!millis)
        return std::nullopt;
    return std::chrono::hours(hours) + std::chrono::minutes(*first) + std::chrono::seconds(*second) +
           std::chrono::milliseconds(*millis);
}

std::optional<Cue> read_times(std::string_view line) {
    Cue cue;
    line = trimmed(line);
    const auto start = take_time(line);
    line = trimmed(line);
    if (!start || !line.starts_with(kArrow))
        return std::nullopt;
    line = trimmed(line.substr(kArrow.size()));
    const auto end = take_time(line);
    const bool is_end = line.empty() || line.front() == ' ' || line.front() == '\t';
    if (!end || !is_end || *end <= *start)
        return std::nullopt;
    cue.start = *start;
    cue.end = *end;
    return cue;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kEntities = {
    {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&nbsp;", "\xC2\xA0"}, {"&lrm;", "\xE2\x80\x8E"}, {"&rlm;", "\xE2\x80\x8F"}}};

// Removes tags, and replaces entities.
std::string plain(std::string_view markup) {
    std::string text;
    while (!markup.empty()) {
        if (markup.front() == '<') {
            markup.remove_prefix(std::min(markup.find('>'), markup.size() - 1) + 1);
            continue;
        }
        const auto entity = std::ranges::find_if(kEntities, [markup](const auto& one) { return markup.starts_with(one.first); });
        text += entity == kEntities.end() ? markup.substr(0, 1) : entity->second;
        markup.remove_prefix(entity == kEntities.end() ? 1 : entity->first.size());
    }
    return text;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        switch (letter) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            default: out += letter;
        }
    }
    return out;
}

std::string time_text(MediaTime time) {
    const auto millis = std::chrono::floor<std::chrono::milliseconds>(std::max(time, MediaTime{})).count();
    return fmt::format("{:02}:{:02}:{:02}.{:03}", millis / 3'600'000, millis / 60'000 % 60, millis / 1'000 % 60, millis % 1'000);
}

}  // namespace

Result<std::vector<Cue>> parse_webvtt(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    constexpr std::string_view kSignature = "WEBVTT";
    if (text.starts_with(kByteOrderMark))
        text.remove_prefix(kByteOrderMark.size());
    const std::string_view first = take_line(text);
    const std::string_view after = first.substr(std::min(first.size(), kSignature.size()));
    if (!first.starts_with(kSignature) || !(after.empty() || after.front() == ' ' || after.front() == '\t'))
        return Error(Errc::malformed, "the text does not begin with WEBVTT");
    std::vector<Cue> cues;
    bool is_header = true;
    while (!text.empty()) {
        // A block ends with an empty line. The times are in the first line of a cue, or in the second, after an identifier.
        std::optional<Cue> cue;
        std::string markup;
        std::size_t lines = 0;
        for (std::string_view line; !text.empty() && !(line = take_line(text)).empty(); ++lines) {
            if (cue)
                markup += (markup.empty() ? "" : "\n") + std::string(line);
            else if (!is_header && lines < 2)
                cue = read_times(line);
        }
        is_header = false;
        if (!cue)
            continue;
        cue->text = lines_of(plain(markup));
        if (cue->text.empty())
            continue;
        if (cues.size() == kCuesMax)
            return Error(Errc::limit, "more than " + std::to_string(kCuesMax) + " cues");
        cues.push_back(*std::move(cue));
    }
    return cues;
}

std::string lines_of(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        std::string whole(take_line(text));
        std::erase(whole, '\0');
        const std::string_view line = trimmed(whole);
        if (!line.empty())
            out += (out.empty() ? "" : "\n") + std::string(line);
    }
    return out;
}

std::string write_segment(MediaTime at, std::uint64_t ticks, std::span<const Cue> cues) {
    std::string text = fmt::format("WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:{},LOCAL:{}\n", ticks, time_text(at));
    for (const Cue& cue : cues)
        text += fmt::format("\n{}-{:08x}\n{} {} {}\n{}\n", cue.start.count(), fnv1a(as_bytes(cue.text)) & 0xFFFF'FFFFU,
                            time_text(cue.start), kArrow, time_text(cue.end), escaped(cue.text));
    return text;
}

}  // namespace live::wire::webvtt
