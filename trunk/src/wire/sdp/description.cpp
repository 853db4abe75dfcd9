#include "wire/sdp/description.hpp"

#include <algorithm>
#include <array>

#include "base/text/ascii.hpp"
#include "wire/sdp/text.hpp"

namespace live::wire::sdp {

namespace {

constexpr std::array<std::string_view, 4> kDirections{"sendrecv", "sendonly", "recvonly", "inactive"};
constexpr std::array<std::string_view, 4> kSetups{"active", "passive", "actpass", "holdconn"};

// The static payload types of RTP/AVP (RFC 3551, 6), for offers without a=rtpmap.
struct StaticType {
    std::uint8_t payload_type;
    std::string_view name;
};
constexpr std::array kStaticTypes{StaticType{0, "PCMU"}, StaticType{8, "PCMA"}, StaticType{9, "G722"}};
constexpr std::uint32_t kStaticRate = 8'000;

constexpr std::string_view kBlanks = " \t";
constexpr std::size_t kUfragMin = 4;
constexpr std::size_t kPwdMin = 22;
constexpr std::size_t kIceMax = 256;  // RFC 8839, 5.4

template <std::size_t Count>
std::optional<std::size_t> index_of(const std::array<std::string_view, Count>& names, std::string_view name) {
    const auto* const found = std::ranges::find(names, name);
    if (found == names.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - names.begin());
}

MediaKind kind_of(std::string_view media) {
    for (const MediaKind kind : {MediaKind::audio, MediaKind::video})
        if (media == name_of(kind))
            return kind;
    return MediaKind::data;
}

bool is_ice_text(std::string_view text, std::size_t min) {
    return text.size() >= min && text.size() <= kIceMax && std::ranges::all_of(text, [](char letter) {
               return ascii::is_alphanumeric(letter) || letter == '+' || letter == '/';
           });
}

// Colon-separated pairs of hexadecimal digits, one per byte of the hash.
bool is_fingerprint(std::string_view text, std::size_t bytes) {
    if (text.size() != bytes * 3 - 1)
        return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char letter = ascii::lower(text[i]);
        const bool digit = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
        if (i % 3 == 2 ? letter != ':' : !digit)
            return false;
    }
    return true;
}

class Parser {
public:
    Result<Description> parse(std::string_view text) {
        if (text.size() > kTextBytesMax)
            return Error(Errc::limit, "SDP of " + std::to_string(text.size()) + " bytes");
        while (!text.empty()) {
            line_text_ = take_until(text, '\n');
            if (line_text_.ends_with('\r'))
                line_text_.remove_suffix(1);
            // Clients write spaces after a value which are not part of it: "a=rtcp-fb:108 nack " (pion 3).
            line_text_ = line_text_.substr(0, line_text_.find_last_not_of(kBlanks) + 1);
            ++line_;
            TRY(check_line());
            TRY(read_line());
        }
        if (!seen_version_)
            return Error(Errc::malformed, "SDP without a v= line");
        return std::move(description_);
    }

private:
    // Every error gives its location: "SDP line 12, \"a=mid:\": no name".
    Error bad(std::string_view what, Errc code = Errc::malformed) const {
        constexpr std::size_t kShown = 60;
        std::string shown;
        for (const char letter : line_text_.substr(0, kShown))
            shown += letter >= ' ' && letter < 0x7F ? letter : '?';
        return {code, "SDP line " + std::to_string(line_) + ", \"" + shown + "\": " + std::string(what)};
    }
    template <class T>
    Result<void> add(std::vector<T>& list, T value, std::size_t max, std::string_view what) {
        if (list.size() >= max)
            return bad("more than " + std::to_string(max) + " " + std::string(what), Errc::limit);
        list.push_back(std::move(value));
        return {};
    }

    Result<void> check_line() const {
        if (line_ > kLinesMax)
            return bad("too many lines", Errc::limit);
        if (line_text_.size() > kLineBytesMax)
            return bad("too long", Errc::limit);
        // A control character could end a line of the answer, which repeats words of the offer.
        if (std::ranges::any_of(line_text_,
                                [](char letter) { return static_cast<unsigned char>(letter) < ' ' && letter != '\t'; }))
            return bad("a control character");
        return {};
    }
    Result<void> read_line() {
        if (line_text_.empty())
            return {};
        if (line_text_.size() < 2 || line_text_[1] != '=')
            return bad("not of the form x=...");
        const std::string_view value = line_text_.substr(2);
        if (line_ == 1 && line_text_ != "v=0")
            return bad("SDP begins with v=0");
        seen_version_ = true;
        if (line_text_[0] == 'm')
            return begin_section(value);
        if (line_text_[0] == 'a')
            return read_attribute(value);
        return {};
    }

    Result<void> begin_section(std::string_view value) {
        Section section;
        section.line = line_;
        section.direction = description_.direction;
        section.media = take_until(value, ' ');
        section.kind = kind_of(section.media);
        std::string_view port = take_until(value, ' ');
        const auto number_of_port = number<std::uint16_t>(take_until(port, '/'), 0xFFFF);
        if (!number_of_port)
            return bad("no port");
        section.port = *number_of_port;
        section.protocol = take_until(value, ' ');
        if (section.protocol.empty())
            return bad("no protocol");
        section.format = value.substr(0, value.find(' '));
        if (section.kind == MediaKind::audio || section.kind == MediaKind::video)
            TRY(read_payload_types(section, value));
        return add(description_.sections, std::move(section), kSectionsMax, "sections");
    }
    Result<void> read_payload_types(Section& section, std::string_view types) {
        while (!types.empty()) {
            const std::string_view word = take_until(types, ' ');
            if (word.empty())
                continue;
            Codec codec;
            const auto type = number<std::uint8_t>(word, 127);
            if (!type)
                return bad("a payload type that is none");
            codec.payload_type = *type;
            for (const StaticType& known : kStaticTypes)
                if (known.payload_type == *type) {
                    codec.name = known.name;
                    codec.clock_rate = kStaticRate;
                }
            if (section.codec(*type) == nullptr)
                TRY(add(section.codecs, std::move(codec), kCodecsMax, "payload types"));
        }
        return {};
    }

    Section* section() { return description_.sections.empty() ? nullptr : &description_.sections.back(); }
    Transport& transport() { return section() != nullptr ? section()->transport : description_.transport; }

    Result<void> read_attribute(std::string_view value) {
        const std::string_view name = take_until(value, ':');
        value = ascii::trimmed(value, kBlanks);
        if (const auto direction = index_of(kDirections, name)) {
            (section() != nullptr ? section()->direction : description_.direction) = static_cast<Direction>(*direction);
            return {};
        }
        if (name == "ice-ufrag" || name == "ice-pwd" || name == "fingerprint" || name == "setup")
            return read_transport(name, value);
        if (section() == nullptr)
            return read_session_attribute(name, value);
        return read_section_attribute(name, value);
    }

    Result<void> read_session_attribute(std::string_view name, std::string_view value) {
        if (name == "ice-lite")
            description_.ice_lite = true;
        if (name != "group" || take_until(value, ' ') != "BUNDLE" || !description_.bundle.empty())
            return {};
        while (!value.empty())
            if (const std::string_view mid = take_until(value, ' '); !mid.empty())
                TRY(add(description_.bundle, std::string(mid), kSectionsMax, "sections in a group"));
        return {};
    }

    Result<void> read_transport(std::string_view name, std::string_view value) {
        if (name == "ice-ufrag") {
            if (!is_ice_text(value, kUfragMin))
                return bad("4 to 256 letters, digits, + and /");
            transport().ice_ufrag = value;
        } else if (name == "ice-pwd") {
            if (!is_ice_text(value, kPwdMin))
                return bad("22 to 256 letters, digits, + and /");
            transport().ice_pwd = value;
        } else if (name == "setup") {
            const auto setup = index_of(kSetups, value);
            if (!setup)
                return bad("not active, passive, actpass or holdconn");
            transport().setup = static_cast<SetupRole>(*setup);
        } else {
            return read_fingerprint(value);
        }
        return {};
    }
    Result<void> read_fingerprint(std::string_view value) {
        const std::string algorithm = ascii::lowered(take_until(value, ' '));
        value = ascii::trimmed(value, " ");
        const std::size_t bytes = algorithm == "sha-256" ? 32 : algorithm == "sha-384" ? 48 : algorithm == "sha-512" ? 64 : 0;
        // Other hashes are too weak or unknown; an offer with only such hashes has no fingerprint.
        if (bytes == 0)
            return {};
        if (!is_fingerprint(value, bytes))
            return bad("not the hexadecimal pairs of that hash");
        if (!transport().fingerprint)
            transport().fingerprint = Fingerprint{algorithm, std::string(value)};
        return {};
    }

    Result<void> read_section_attribute(std::string_view name, std::string_view value) {
        Section& here = *section();
        if (name == "rtpmap")
            return read_rtpmap(here, value);
        if (name == "fmtp")
            return read_format(here, value);
        if (name == "rtcp-fb")
            return read_feedback(here, value);
        if (name == "extmap")
            return read_extmap(here, value);
        if (name == "ssrc")
            return read_ssrc(here, value);
        if (name == "ssrc-group")
            return read_ssrc_group(here, value);
        if (name == "rid")
            return read_rid(here, value);
        if (name == "simulcast")
            return read_simulcast(here, value);
        if (name == "candidate")
            return add(here.candidates, std::string(value), kCandidatesMax, "candidates");
        if (name == "mid") {
            if (value.empty())
                return bad("no name");
            here.mid = value;
        } else if (name == "msid") {
            here.msid = value;
        } else if (name == "rtcp-mux") {
            here.rtcp_mux = true;
        } else if (name == "rtcp-rsize") {
            here.rtcp_rsize = true;
        }
        return {};
    }

    // The codec that a line like "a=fmtp:96 ..." refers to; nullptr when m= does not list it, which is not an error.
    Result<Codec*> codec_of(Section& here, std::string_view& value) {
        const auto type = number<std::uint8_t>(take_until(value, ' '), 127);
        if (!type)
            return bad("no payload type");
        const auto found = std::ranges::find(here.codecs, *type, &Codec::payload_type);
        return found == here.codecs.end() ? nullptr : &*found;
    }
    Result<void> read_rtpmap(Section& here, std::string_view value) {
        Codec* const codec = TRY(codec_of(here, value));
        const std::string_view name = take_until(value, '/');
        const auto rate = number<std::uint32_t>(take_until(value, '/'), 10'000'000);
        const auto channels = value.empty() ? std::uint8_t{1} : number<std::uint8_t>(value, 255);
        if (name.empty() || !rate || *rate == 0)
            return bad("no name and clock rate");
        if (!channels || *channels == 0)
            return bad("a number of channels that is none");
        if (codec != nullptr) {
            codec->name = name;
            codec->clock_rate = *rate;
            codec->channels = *channels;
        }
        return {};
    }
    Result<void> read_format(Section& here, std::string_view value) {
        if (Codec* const codec = TRY(codec_of(here, value)); codec != nullptr && codec->format.empty())
            codec->format = value;
        return {};
    }
    Result<void> read_feedback(Section& here, std::string_view value) {
        if (value.starts_with("* ")) {
            value.remove_prefix(2);
            for (Codec& codec : here.codecs)
                TRY(add(codec.feedback, std::string(value), kFeedbackMax, "kinds of feedback"));
            return {};
        }
        if (Codec* const codec = TRY(codec_of(here, value)); codec != nullptr)
            return add(codec->feedback, std::string(value), kFeedbackMax, "kinds of feedback");
        return {};
    }
    Result<void> read_extmap(Section& here, std::string_view value) {
        std::string_view id_and_direction = take_until(value, ' ');
        const auto id = number<std::uint16_t>(take_until(id_and_direction, '/'), 4'351);
        const std::string_view uri = take_until(value, ' ');
        if (!id || *id == 0 || uri.empty())
            return bad("no id and URI");
        return add(here.extensions, ExtMap{*id, std::string(uri)}, kExtensionsMax, "header extensions");
    }
    Result<void> read_ssrc(Section& here, std::string_view value) {
        const auto ssrc = number<std::uint32_t>(take_until(value, ' '), 0xFFFFFFFF);
        if (!ssrc)
            return bad("no SSRC");
        auto found = std::ranges::find(here.ssrcs, *ssrc, &SsrcLine::ssrc);
        if (found == here.ssrcs.end()) {
            TRY(add(here.ssrcs, SsrcLine{*ssrc, {}}, kSsrcsMax, "SSRCs"));
            found = here.ssrcs.end() - 1;
        }
        if (take_until(value, ':') == "cname")
            found->cname = value;
        return {};
    }
    Result<void> read_ssrc_group(Section& here, std::string_view value) {
        SsrcGroup group{std::string(take_until(value, ' ')), {}};
        while (!value.empty()) {
            const auto ssrc = number<std::uint32_t>(take_until(value, ' '), 0xFFFFFFFF);
            if (!ssrc)
                return bad("an SSRC that is none");
            TRY(add(group.ssrcs, *ssrc, kSsrcsMax, "SSRCs"));
        }
        return add(here.ssrc_groups, std::move(group), kSsrcsMax, "groups of SSRCs");
    }
    Result<void> read_rid(Section& here, std::string_view value) {
        Rid rid;
        rid.id = take_until(value, ' ');
        const std::string_view direction = take_until(value, ' ');
        const bool is_id = !rid.id.empty() && std::ranges::all_of(rid.id, [](char letter) {
            return ascii::is_alphanumeric(letter) || letter == '-' || letter == '_';
        });
        if (!is_id || (direction != "send" && direction != "recv"))
            return bad("no id and direction");
        rid.is_send = direction == "send";
        rid.restrictions = value;
        return add(here.rids, std::move(rid), kRidsMax, "rids");
    }
    Result<void> read_simulcast(Section& here, std::string_view value) {
        Simulcast simulcast;
        while (!value.empty()) {
            const std::string_view direction = take_until(value, ' ');
            if (direction.empty())
                continue;
            if (direction != "send" && direction != "recv")
                return bad("neither send nor recv");
            auto& layers = direction == "send" ? simulcast.send : simulcast.receive;
            TRY(read_layers(layers, take_until(value, ' ')));
        }
        here.simulcast = std::move(simulcast);
        return {};
    }
    Result<void> read_layers(std::vector<std::vector<std::string>>& layers, std::string_view value) {
        if (value.empty() || !layers.empty())
            return bad("no layers, or twice");
        while (!value.empty()) {
            std::string_view layer = take_until(value, ';');
            std::vector<std::string> alternatives;
            while (!layer.empty()) {
                std::string_view id = take_until(layer, ',');
                if (id.starts_with('~'))
                    id.remove_prefix(1);
                if (id.empty())
                    return bad("a layer without a name");
                TRY(add(alternatives, std::string(id), kRidsMax, "alternatives"));
            }
            if (alternatives.empty())
                return bad("a layer without a name");
            TRY(add(layers, std::move(alternatives), kRidsMax, "layers"));
        }
        return {};
    }

    Description description_;
    std::string_view line_text_;
    std::size_t line_ = 0;
    bool seen_version_ = false;
};

}  // namespace

bool Codec::is(std::string_view wanted) const { return ascii::are_same(name, wanted); }

bool Codec::has_feedback(std::string_view wanted) const { return std::ranges::find(feedback, wanted) != feedback.end(); }

std::optional<std::string_view> Codec::parameter(std::string_view wanted) const {
    for (std::string_view rest = format; !rest.empty();) {
        std::string_view pair = ascii::trimmed(take_until(rest, ';'), kBlanks);
        if (ascii::are_same(ascii::trimmed(take_until(pair, '='), kBlanks), wanted))
            return ascii::trimmed(pair, kBlanks);
    }
    return std::nullopt;
}

const Codec* Section::codec(std::uint8_t payload_type) const {
    const auto found = std::ranges::find(codecs, payload_type, &Codec::payload_type);
    return found == codecs.end() ? nullptr : &*found;
}

const Codec* Section::rtx_of(std::uint8_t payload_type) const {
    for (const Codec& candidate : codecs)
        if (candidate.is("rtx") && candidate.parameter("apt") == std::to_string(payload_type))
            return &candidate;
    return nullptr;
}

std::uint8_t Section::extension_id(std::string_view uri) const {
    for (const ExtMap& extension : extensions)
        if (extension.uri == uri && extension.id <= 0xFF)
            return static_cast<std::uint8_t>(extension.id);
    return 0;
}

std::string_view Description::ice_ufrag(const Section& section) const {
    return section.transport.ice_ufrag.empty() ? transport.ice_ufrag : section.transport.ice_ufrag;
}
std::string_view Description::ice_pwd(const Section& section) const {
    return section.transport.ice_pwd.empty() ? transport.ice_pwd : section.transport.ice_pwd;
}
const Fingerprint* Description::fingerprint(const Section& section) const {
    const auto& found = section.transport.fingerprint ? section.transport.fingerprint : transport.fingerprint;
    return found ? &*found : nullptr;
}
SetupRole Description::setup(const Section& section) const {
    return section.transport.setup.value_or(transport.setup.value_or(SetupRole::actpass));
}

Result<Description> parse_description(std::string_view text) { return Parser().parse(text); }

std::string_view name_of(Direction direction) { return kDirections[static_cast<std::size_t>(direction)]; }
std::string_view name_of(SetupRole setup) { return kSetups[static_cast<std::size_t>(setup)]; }

}  // namespace live::wire::sdp
