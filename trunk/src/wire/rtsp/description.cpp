#include "wire/rtsp/description.hpp"

#include <algorithm>
#include <array>

#include "base/bytes/base64.hpp"
#include "base/text/ascii.hpp"
#include "wire/rtsp/text.hpp"

namespace live::wire::rtsp {

namespace {

using codec::Codec;

struct Encoding {
    std::string_view name;
    Codec codec;
};
constexpr std::array kEncodings = {
    Encoding{"H264", Codec::avc},          Encoding{"H265", Codec::hevc},  Encoding{"HEVC", Codec::hevc},
    Encoding{"AV1", Codec::av1},           Encoding{"VP8", Codec::vp8},    Encoding{"VP9", Codec::vp9},
    Encoding{"mpeg4-generic", Codec::aac}, Encoding{"opus", Codec::opus},  Encoding{"PCMA", Codec::g711a},
    Encoding{"PCMU", Codec::g711u},        Encoding{"MPA", Codec::mp3},    Encoding{"MP4A-LATM", Codec::aac},
    Encoding{"ac3", Codec::ac3},           Encoding{"JPEG", Codec::mjpeg},
};

// RFC 3551, 6: payload types that need no a=rtpmap.
struct StaticType {
    std::uint8_t payload_type;
    std::string_view name;
    std::uint32_t clock_rate;
};
constexpr std::array kStaticTypes = {StaticType{0, "PCMU", 8'000}, StaticType{8, "PCMA", 8'000}, StaticType{14, "MPA", 90'000},
                                     StaticType{26, "JPEG", 90'000}};

Codec codec_of(std::string_view name) {
    const auto* const found =
        std::ranges::find_if(kEncodings, [name](const Encoding& one) { return ascii::are_same(one.name, name); });
    return found == kEncodings.end() ? Codec::none : found->codec;
}

std::vector<std::uint8_t> bytes_of_hex(std::string_view text) {
    std::vector<std::uint8_t> bytes;
    for (; text.size() >= 2; text.remove_prefix(2)) {
        const int high = ascii::digit_of(text[0]);
        const int low = ascii::digit_of(text[1]);
        if (high < 0 || low < 0)
            return {};
        bytes.push_back(static_cast<std::uint8_t>(high << 4 | low));
    }
    return bytes;
}

void add_parameter_sets(std::string_view text, Media& media) {
    while (!text.empty()) {
        auto unit = bytes_of_base64(ascii::trimmed(take_until(text, ','), kBlanks));
        if (unit && !unit->empty() && media.parameter_sets.size() < kParameterSetsMax)
            media.parameter_sets.push_back(*std::move(unit));
    }
}

// The media of a section is that of its first payload type: RTSP describes, it does not offer.
void read_rtpmap(std::string_view value, Media& media) {
    if (number_of<unsigned>(take_until(value, ' ')) != media.payload_type)
        return;
    value = ascii::trimmed(value, kBlanks);
    media.name = take_until(value, '/');
    media.codec = codec_of(media.name);
    media.is_latm = ascii::are_same(media.name, "MP4A-LATM");
    if (const auto rate = number_of<std::uint32_t>(take_until(value, '/')); rate && *rate > 0)
        media.clock_rate = *rate;
    if (const auto channels = number_of<std::uint8_t>(take_until(value, '/')); channels && *channels > 0)
        media.channels = *channels;
}

void read_format(std::string_view value, Media& media) {
    if (number_of<unsigned>(take_until(value, ' ')) != media.payload_type)
        return;
    media.parameters = ascii::trimmed(value, kBlanks);
    const auto set_bits = [](std::uint8_t& bits, std::string_view text) {
        constexpr std::uint8_t kBitsMax = 32;
        if (const auto number = number_of<std::uint8_t>(text); number && *number <= kBitsMax)
            bits = *number;
    };
    while (!value.empty()) {
        std::string_view parameter = ascii::trimmed(take_until(value, ';'), kBlanks);
        const std::string name = ascii::lowered(ascii::trimmed(take_until(parameter, '='), kBlanks));
        if (name == "sprop-parameter-sets" || name == "sprop-vps" || name == "sprop-sps" || name == "sprop-pps")
            add_parameter_sets(parameter, media);
        else if (name == "config")
            media.config = bytes_of_hex(parameter);
        else if (name == "sizelength")
            set_bits(media.packing.size_bits, parameter);
        else if (name == "indexlength")
            set_bits(media.packing.index_bits, parameter);
        else if (name == "indexdeltalength")
            set_bits(media.packing.index_delta_bits, parameter);
    }
}

// Data of any format is passed on with its description, whose texts must fit into a line.
void finish_data(Media& media) {
    const auto is_plain = [](std::string_view text) {
        return std::ranges::all_of(text, [](char letter) { return letter >= ' ' && letter <= '~'; });
    };
    if (media.name.empty() || !is_plain(media.name) || !is_plain(media.parameters))
        return;
    std::string format = media.name + "/" + std::to_string(media.clock_rate);
    if (!media.parameters.empty())
        format.append("\n").append(media.parameters);
    if (format.size() > kDataFormatBytesMax)
        return;
    media.codec = Codec::rtp_data;
    media.config.assign(format.begin(), format.end());
}

Media begin_media(std::string_view value) {
    Media media;
    const std::string_view name = take_until(value, ' ');
    for (const MediaKind kind : {MediaKind::audio, MediaKind::video})
        if (ascii::are_same(name, name_of(kind)))
            media.kind = kind;
    take_until(value, ' ');  // the port
    take_until(value, ' ');  // the profile
    media.payload_type =
        static_cast<std::uint8_t>(number_of<unsigned>(ascii::trimmed(take_until(value, ' '), " \t")).value_or(0) & 0x7FU);
    const auto* const known = std::ranges::find(kStaticTypes, media.payload_type, &StaticType::payload_type);
    if (known != kStaticTypes.end()) {
        media.name = known->name;
        media.codec = codec_of(known->name);
        media.clock_rate = known->clock_rate;
    }
    return media;
}

void read_attribute(std::string_view value, Description& description) {
    const std::string_view name = take_until(value, ':');
    if (description.media.empty()) {
        if (name == "control" && value.size() <= kControlBytesMax)
            description.control = value;
        return;
    }
    Media& media = description.media.back();
    if (name == "control" && value.size() <= kControlBytesMax)
        media.control = value;
    else if (name == "rtpmap")
        read_rtpmap(value, media);
    else if (name == "fmtp")
        read_format(value, media);
}

}  // namespace

Result<Description> parse_description(std::string_view text) {
    Description description;
    // a=fmtp may precede a=rtpmap, so each section is one pass without state of another.
    while (!text.empty()) {
        const std::string_view line = ascii::trimmed(take_until(text, '\n'), " \t\r");
        if (line.starts_with("a=")) {
            read_attribute(line.substr(2), description);
        } else if (line.starts_with("m=")) {
            if (description.media.size() == kMediaMax)
                return Error(Errc::limit, "SDP: more than " + std::to_string(kMediaMax) + " media");
            description.media.push_back(begin_media(line.substr(2)));
        }
    }
    if (description.media.empty())
        return Error(Errc::malformed, "SDP: no media");
    for (Media& media : description.media) {
        // The decoder's clock of H.264 and of all other video is 90 kHz; some cameras leave a=rtpmap's rate out.
        constexpr std::uint32_t kDefaultRate = 90'000;
        if (media.clock_rate == 0)
            media.clock_rate = kDefaultRate;
        if (media.kind == MediaKind::data)
            finish_data(media);
    }
    return description;
}

std::optional<std::uint32_t> data_clock_rate_of(Bytes config) {
    std::string_view text = as_text(config);
    text = take_until(text, '\n');
    const std::size_t slash = text.rfind('/');
    const auto rate = slash == std::string_view::npos ? std::nullopt : number_of<std::uint32_t>(text.substr(slash + 1));
    return rate && *rate > 0 ? rate : std::nullopt;
}

std::optional<std::size_t> track_of_control(std::string_view url) {
    constexpr std::array<std::string_view, 3> kNames = {"trackid=", "streamid=", "track"};
    const std::string lowered = ascii::lowered(url);
    for (const std::string_view name : kNames)
        if (const std::size_t at = lowered.rfind(name); at != std::string::npos)
            if (const auto number = number_of<std::size_t>(std::string_view(lowered).substr(at + name.size())))
                return number;
    return std::nullopt;
}

}  // namespace live::wire::rtsp
