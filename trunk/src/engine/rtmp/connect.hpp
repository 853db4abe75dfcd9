// The connect and play commands in detail: parsing them, and building the connect answer (RTMP 1.0, sections 7.2.1.1 and 7.2.2.1;
// E-RTMP v2, "Enhancing NetConnection connect Command"). Pure translation; the Server decides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rtmp/command.hpp"
#include "engine/rtmp/events.hpp"
#include "wire/amf/value.hpp"

namespace live::engine::rtmp {

// How the connect answer identifies this server; tools use it to distinguish servers.
struct ServerIdentity {
    std::string signature;
    std::string server;
    std::string license;
    std::string url;
    std::string version;
    std::string authors;
    std::string server_ip;
    std::int64_t pid = 0;
    std::string id;  // of this connection, as logged
};

// Moves the object and the first argument out of `command`.
ConnectRequest read_connect(Command& command);

WantsToPlay read_play(const Command& command);

// Whether the client sent any E-RTMP property, so that our answer contains them too.
bool is_enhanced(const wire::amf::Value& command_object);

// E-RTMP v2, CapsExMask: this end can request a reconnect, or obeys such a request.
inline constexpr std::uint32_t kCapsReconnect = 1;
// This end supports messages of several tracks.
inline constexpr std::uint32_t kCapsMultitrack = 2;
inline constexpr std::string_view kReconnectCode = "NetConnection.Connect.ReconnectRequest";

// The announced CapsExMask; 0: none.
std::uint32_t caps_ex_of(const wire::amf::Value& object);

// Adds the codecs supported by FourCC to a connect object or to the properties of its answer.
void add_capabilities(wire::amf::Value& object, bool reconnects);

wire::amf::Value connect_properties(bool enhanced);
wire::amf::Value connect_information(const ServerIdentity& identity, double object_encoding);

// |RtmpSampleAccess true true.
std::vector<std::uint8_t> sample_access_body();

// At most 32 characters of peer input, for an error message; non-printable ones become '?'.
std::string printable(std::string_view text);

}  // namespace live::engine::rtmp
