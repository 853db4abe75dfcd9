#include "service/stats/track_facts.hpp"

#include <charconv>

#include "base/text/ascii.hpp"
#include "wire/codec/audio/aac.hpp"
#include "wire/codec/audio/opus.hpp"
#include "wire/codec/video/av1.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"

namespace live::service::stats {

namespace {

using media::Codec;
using wire::codec::SpsInfo;

constexpr const char* kOther = "Other";

std::string text_of_level(unsigned whole, unsigned part) {
    std::string text = std::to_string(whole);
    return part == 0 ? text : text + "." + std::to_string(part);
}

void set_size(VideoFacts& facts, const Result<SpsInfo>& picture) {
    if (!picture.ok())
        return;
    facts.width = picture->width;
    facts.height = picture->height;
}

void read_avc(VideoFacts& facts, Bytes record) {
    const auto config = wire::codec::parse_avc_config(record);
    if (!config.ok())
        return;
    facts.profile = avc_profile_text(config->profile, config->compatibility);
    facts.level = avc_level_text(config->level);
    if (!config->sps.empty())
        set_size(facts, wire::codec::parse_avc_sps(config->sps.front()));
}

void read_hevc(VideoFacts& facts, Bytes record) {
    const auto config = wire::codec::parse_hevc_config(record);
    if (!config.ok())
        return;
    facts.profile = hevc_profile_text(config->profile);
    facts.level = hevc_level_text(config->level);
    set_size(facts, wire::codec::parse_hevc_sps(config->first_unit(wire::codec::HevcConfig::kSps)));
}

void read_av1(VideoFacts& facts, Bytes record) {
    static constexpr const char* kProfiles[] = {"Main", "High", "Professional"};
    const auto config = wire::codec::parse_av1_config(record);
    if (!config.ok())
        return;
    facts.profile = config->profile < std::size(kProfiles) ? kProfiles[config->profile] : kOther;
    facts.level = av1_level_text(config->level);
    set_size(facts, wire::codec::parse_av1_sequence_header(config->obus));
}

const char* aac_profile_text(const wire::codec::AudioSpecificConfig& config) {
    if (config.ps)
        return "HEv2";
    if (config.sbr)
        return "HE";
    switch (config.object_type) {
        case 1: return "Main";
        case 2: return "LC";
        case 3: return "SSR";
        default: return kOther;
    }
}

void read_aac(AudioFacts& facts, Bytes body) {
    const auto config = wire::codec::parse_aac_config(body);
    if (!config.ok()) {
        facts.problem = body.empty() ? "AAC without a sequence header" : "AAC with a bad sequence header";
        return;
    }
    facts.profile = aac_profile_text(*config);
    facts.sample_rate = config->output_rate;
    facts.channels = config->channels;
}

void read_opus(AudioFacts& facts, Bytes body) {
    if (const auto head = wire::codec::parse_opus_head(body); head.ok())
        facts.channels = head->channels;
}

// The family's name of the codec if there is one.
std::string text_of_codec(Codec codec, bool is_known) {
    const std::string name(name_of(codec));
    return is_known ? name : std::string(kOther) + "(" + name + ")";
}

}  // namespace

VideoFacts video_facts_of(std::string_view codec, std::string_view format) {
    VideoFacts facts;
    facts.codec = ascii::are_same(codec, "H265") ? "HEVC" : std::string(codec);
    facts.profile = facts.level = kOther;
    // RFC 6184, 8.1: profile_idc, the constraints and level_idc, two hexadecimal digits each.
    constexpr std::string_view kName = "profile-level-id=";
    const std::size_t at = ascii::lowered(format).find(kName);
    std::uint32_t value = 0;
    if (at == std::string_view::npos || !ascii::are_same(codec, "H264"))
        return facts;
    const std::string_view digits = format.substr(at + kName.size(), 6);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc() || end != digits.data() + 6)
        return facts;
    facts.profile = avc_profile_text(static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 8));
    facts.level = avc_level_text(static_cast<std::uint8_t>(value));
    return facts;
}

AudioFacts audio_facts_of(std::string_view codec, std::uint32_t clock_rate, std::uint8_t channels) {
    return {ascii::are_same(codec, "opus") ? "Opus" : std::string(codec), clock_rate, channels, kOther};
}

std::string avc_profile_text(std::uint8_t profile, std::uint8_t compatibility) {
    constexpr unsigned kConstraintSet1 = 0x40;
    constexpr unsigned kConstraintSet3 = 0x10;
    const bool is_intra = (compatibility & kConstraintSet3) != 0;
    switch (profile) {
        case 66: return (compatibility & kConstraintSet1) != 0 ? "Baseline(Constrained)" : "Baseline";
        case 77: return "Main";
        case 88: return "Extended";
        case 100: return "High";
        case 110: return is_intra ? "High(10+Intra)" : "High(10)";
        case 122: return is_intra ? "High(422+Intra)" : "High(422)";
        case 144: return "High(444)";
        case 244: return is_intra ? "High(444+Intra)" : "High(444+Predictive)";
        case 44: return "High(444+Intra)";
        default: return kOther;
    }
}

std::string avc_level_text(std::uint8_t level) {
    constexpr unsigned kLevel1b = 9;
    constexpr unsigned kHighest = 62;
    if (level == kLevel1b)
        return "1b";
    const bool is_level = level > kLevel1b && level <= kHighest && (level % 10U < 3 || level == 13);
    return is_level ? text_of_level(level / 10U, level % 10U) : kOther;
}

std::string hevc_profile_text(std::uint8_t profile) {
    switch (profile) {
        case 1: return "Main";
        case 2: return "Main10";
        case 3: return "Main Still Picture";
        case 4: return "Rext";
        default: return kOther;
    }
}

std::string hevc_level_text(std::uint8_t level) {
    switch (level) {
        case 30: return "1";
        case 60: return "2";
        case 63: return "2.1";
        case 90: return "3";
        case 93: return "3.1";
        case 120: return "4";
        case 123: return "4.1";
        case 150: return "5";
        case 153: return "5.1";
        case 156: return "5.2";
        case 180: return "6";
        case 183: return "6.1";
        case 186: return "6.2";
        default: return kOther;
    }
}

std::string av1_level_text(std::uint8_t level) {
    constexpr unsigned kHighest = 23;  // 7.3; 31 means no bound
    return level > kHighest ? kOther : text_of_level(2U + (level >> 2U), level & 3U);
}

VideoFacts video_facts_of(const media::Track& track) {
    VideoFacts facts;
    const bool is_known = track.codec == Codec::avc || track.codec == Codec::hevc || track.codec == Codec::av1 ||
                          track.codec == Codec::vp6 || track.codec == Codec::vp6_alpha;
    facts.codec = track.codec == Codec::vp6_alpha ? "VP6" : text_of_codec(track.codec, is_known);
    facts.profile = kOther;
    facts.level = kOther;
    switch (track.codec) {
        case Codec::avc: read_avc(facts, track.config.bytes()); break;
        case Codec::hevc: read_hevc(facts, track.config.bytes()); break;
        case Codec::av1: read_av1(facts, track.config.bytes()); break;
        default: break;
    }
    return facts;
}

AudioFacts audio_facts_of(const media::Track& track) {
    constexpr std::uint32_t kOpusRate = 48'000;
    constexpr std::uint32_t kUsualChannels = 2;
    AudioFacts facts;
    const bool is_known = track.codec == Codec::aac || track.codec == Codec::mp3 || track.codec == Codec::opus;
    facts.codec = text_of_codec(track.codec, is_known);
    facts.profile = kOther;
    const bool is_opus = track.codec == Codec::opus;
    facts.sample_rate = is_opus ? kOpusRate : track.audio.sample_rate;
    facts.channels = is_opus ? kUsualChannels : track.audio.channels;
    if (track.codec == Codec::aac)
        read_aac(facts, track.config.bytes());
    else if (is_opus)
        read_opus(facts, track.config.bytes());
    return facts;
}

}  // namespace live::service::stats
