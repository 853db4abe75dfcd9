#include "engine/rtmp/connect.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "wire/amf/amf0.hpp"

namespace live::engine::rtmp {
namespace {

using wire::amf::Value;

constexpr std::array<const char*, 5> kVideoFourCcs = {"avc1", "hvc1", "av01", "vp09", "vp08"};
constexpr std::array<const char*, 6> kAudioFourCcs = {"mp4a", ".mp3", "Opus", "fLaC", "ac-3", "ec-3"};

// FourCcInfoMask: we forward frames and neither encode nor decode.
constexpr int kCanForward = 4;
// CapsExMask: ModEx 4, nanosecond offset 8; and kCapsReconnect.
constexpr std::uint32_t kOurCapsEx = kCapsMultitrack | 4 | 8;

std::string text_in(const Value& object, std::string_view key) {
    const Value* value = object.find(key);
    return value == nullptr ? std::string() : std::string(value->string().value_or(std::string_view()));
}

double number_of(const Value& object, std::string_view key) {
    const Value* value = object.find(key);
    return value == nullptr ? 0 : value->number().value_or(0);
}

std::vector<std::string> fourccs_of(const Value& object) {
    std::vector<std::string> names;
    const Value* list = object.find("fourCcList");
    if (list == nullptr)
        return names;
    for (const Value::Member& member : list->members()) {
        if (names.size() == kFourCcListMax)
            break;
        if (member.value.string())
            names.emplace_back(*member.value.string());
    }
    return names;
}

std::uint32_t to_uint32(double number) {
    // NaN fails both comparisons.
    return number >= 0 && number <= 4'294'967'295.0 ? static_cast<std::uint32_t>(number) : 0;
}

}  // namespace

std::uint32_t caps_ex_of(const Value& object) { return to_uint32(number_of(object, "capsEx")); }

ConnectRequest read_connect(Command& command) {
    ConnectRequest request;
    const Value& object = command.object;
    request.tc_url = text_in(object, "tcUrl");
    request.app = text_in(object, "app");
    request.page_url = text_in(object, "pageUrl");
    request.swf_url = text_in(object, "swfUrl");
    request.flash_version = text_in(object, "flashVer");
    request.object_encoding = number_of(object, "objectEncoding");
    request.fourcc_list = fourccs_of(object);
    request.caps_ex = caps_ex_of(object);
    request.command_object = std::move(command.object);
    if (!command.arguments.empty())
        request.arguments = std::move(command.arguments.front());
    return request;
}

WantsToPlay read_play(const Command& command) {
    // Longer than any real request and far from overflow.
    constexpr double kDurationMax = 86'400'000.0;
    WantsToPlay play;
    play.stream = std::string(command.text(0));
    play.start = command.argument(1).number().value_or(-2);
    const double duration = command.argument(2).number().value_or(-1);
    if (duration > 0)
        play.duration = std::chrono::milliseconds(static_cast<std::int64_t>(std::min(std::ceil(duration), kDurationMax)));
    // A flag in RTMP 1.0; Flash also sends numbers.
    const Value& reset = command.argument(3);
    play.reset = reset.boolean().value_or(reset.number().value_or(1) != 0);
    return play;
}

bool is_enhanced(const Value& command_object) {
    for (const char* key : {"fourCcList", "videoFourCcInfoMap", "audioFourCcInfoMap", "capsEx"}) {
        if (command_object.find(key) != nullptr)
            return true;
    }
    return false;
}

void add_capabilities(Value& object, bool reconnects) {
    Value list = Value::strict_array();
    Value video = Value::object();
    Value audio = Value::object();
    for (const char* name : kVideoFourCcs) {
        list.append("", name);
        video.set(name, kCanForward);
    }
    for (const char* name : kAudioFourCcs) {
        list.append("", name);
        audio.set(name, kCanForward);
    }
    object.set("fourCcList", std::move(list));
    object.set("videoFourCcInfoMap", std::move(video));
    object.set("audioFourCcInfoMap", std::move(audio));
    object.set("capsEx", static_cast<int>(kOurCapsEx | (reconnects ? kCapsReconnect : 0)));
}

Value connect_properties(bool enhanced) {
    Value properties = Value::object({{"fmsVer", "FMS/3,5,3,888"}, {"capabilities", 127}, {"mode", 1}});
    if (enhanced)
        add_capabilities(properties, true);
    return properties;
}

Value connect_information(const ServerIdentity& identity, double object_encoding) {
    Value information = status_object(StatusLevel::status, "NetConnection.Connect.Success", "Connection succeeded");
    information.set("objectEncoding", object_encoding);
    information.set("data", Value::ecma_array({{"version", "3,5,3,888"},
                                               {"srs_sig", identity.signature},
                                               {"srs_server", identity.server},
                                               {"srs_license", identity.license},
                                               {"srs_url", identity.url},
                                               {"srs_version", identity.version},
                                               {"srs_authors", identity.authors},
                                               {"srs_server_ip", identity.server_ip},
                                               {"srs_pid", identity.pid},
                                               {"srs_id", identity.id}}));
    return information;
}

std::vector<std::uint8_t> sample_access_body() {
    ByteWriter out;
    wire::amf::write_amf0(out, "|RtmpSampleAccess");
    wire::amf::write_amf0(out, true);
    wire::amf::write_amf0(out, true);
    return out.release();
}

std::string printable(std::string_view text) {
    constexpr std::size_t kShownMax = 32;
    std::string shown;
    for (const char letter : text.substr(0, kShownMax))
        shown.push_back(letter > ' ' && letter <= '~' ? letter : '?');
    return shown;
}

}  // namespace live::engine::rtmp
