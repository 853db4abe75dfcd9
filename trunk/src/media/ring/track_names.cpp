#include "media/ring/track_names.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace live::media {

namespace {

std::optional<TrackId> id_of(std::string_view key) {
    std::uint8_t id = 0;
    const auto read = std::from_chars(key.data(), key.data() + key.size(), id);
    return read.ec == std::errc() && read.ptr == key.data() + key.size() ? std::optional(TrackId{id}) : std::nullopt;
}

bool is_tag_letter(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '-';
}

bool is_language(std::string_view text) {
    return text.size() <= TrackName::kLanguageBytesMax && std::ranges::all_of(text, is_tag_letter);
}

// RFC 3629, 4: the number of bytes after the first byte of a character, and the range of the second byte. nullopt: no character
// begins with this byte.
struct Lead {
    std::size_t rest = 0;
    unsigned low = 0x80;
    unsigned high = 0xBF;
};
std::optional<Lead> lead_of(unsigned first) {
    if (first < 0x80)
        return first >= 0x20 && first != 0x7F ? std::optional(Lead{}) : std::nullopt;
    if (first >= 0xC2 && first <= 0xDF)
        return Lead{1};
    if (first >= 0xE0 && first <= 0xEF)
        return Lead{2, first == 0xE0 ? 0xA0U : 0x80U, first == 0xED ? 0x9FU : 0xBFU};
    if (first >= 0xF0 && first <= 0xF4)
        return Lead{3, first == 0xF0 ? 0x90U : 0x80U, first == 0xF4 ? 0x8FU : 0xBFU};
    return std::nullopt;
}

// Returns the first of these members that is text.
std::string text_of(const wire::amf::Value& track, std::initializer_list<std::string_view> keys,
                    bool (*is_good)(std::string_view)) {
    for (const std::string_view key : keys)
        if (const wire::amf::Value* value = track.find(key); value != nullptr && value->string() && is_good(*value->string()))
            return std::string(*value->string());
    return "";
}

}  // namespace

bool is_track_name(std::string_view text) {
    if (text.size() > TrackName::kNameBytesMax)
        return false;
    const auto byte = [text](std::size_t at) { return static_cast<unsigned>(static_cast<unsigned char>(text[at])); };
    for (std::size_t at = 0; at < text.size();) {
        auto lead = lead_of(byte(at));
        if (!lead || text.size() - at <= lead->rest)
            return false;
        for (++at; lead->rest > 0; --lead->rest, ++at) {
            if (byte(at) < lead->low || byte(at) > lead->high)
                return false;
            lead->low = 0x80;
            lead->high = 0xBF;
        }
    }
    return true;
}

std::vector<TrackName> read_track_names(const wire::amf::Value& metadata, std::size_t count_max) {
    std::vector<TrackName> names;
    for (const auto& [kind, key] :
         {std::pair(MediaKind::audio, "audioTrackIdInfoMap"), std::pair(MediaKind::video, "videoTrackIdInfoMap")}) {
        const wire::amf::Value* map = metadata.find(key);
        std::size_t count = 0;
        if (map == nullptr || !map->is_container())
            continue;
        for (const auto& [member, track] : map->members()) {
            const auto id = id_of(member);
            if (!id || !track.is_container() || count == count_max)
                continue;
            // E-RTMP does not define the members; these names are those of containers.
            TrackName name{kind, *id, text_of(track, {"language", "lang"}, is_language),
                           text_of(track, {"name", "title", "label"}, is_track_name)};
            if (name.language.empty() && name.name.empty())
                continue;
            names.push_back(std::move(name));
            ++count;
        }
    }
    return names;
}

}  // namespace live::media
