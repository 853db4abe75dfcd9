// The records and events that nodes of a cluster write into their registry, as text: the record of a node, the ownership of a
// stream, and events. Any client of the registry can write there, so all input is untrusted. Pure.
//
//   node:<id>     RUN|HOST|RTMP|HTTP|API|REGION|STATE|CAPACITY|LOAD|VERSION[|AT|MAC]  for as long as its lease lives
//   own:<stream>  NODE|RUN|EPOCH|SINCE[|MAC]                                          valid while that node's lease has that run
//   an event      KIND[:MAC]|NODE|RUN|EPOCH|STREAM                                  of a kick, EPOCH is the publisher's SINCE
//
// MAC: see engine/cluster/seal.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::engine::cluster {

inline constexpr std::size_t kIdBytesMax = 64;  // of a node's id, region and version
inline constexpr std::size_t kMacBytes = 32;
inline constexpr std::size_t kStreamBytesMax = 1024;
inline constexpr std::size_t kRecordBytesMax = 2048;
// The scripts of the registry compute with doubles.
inline constexpr std::uint64_t kNumberMax = std::uint64_t{1} << 53;

struct NodeRecord {
    // `edge`: serves players and accepts no publisher.
    enum class State : std::uint8_t { up, draining, edge };

    std::string id{};       // in the key, not in the text
    std::uint64_t run = 0;  // of the process: a restarted node does not own what its predecessor did
    std::string host{};     // where other nodes reach it; no brackets
    std::uint16_t rtmp_port = 0;
    std::uint16_t http_port = 0;  // of live streams and files; 0: none
    std::uint16_t api_port = 0;   // 0: none
    std::string region{};
    State state = State::up;
    std::uint64_t capacity = 0;  // bytes per second that it can send; 0: unknown
    std::uint64_t load = 0;      // bytes per second that it sends
    std::string version{};
    std::int64_t at = 0;  // when it was signed: milliseconds of the node's wall clock
    std::string mac{};    // empty: not signed

    bool operator==(const NodeRecord&) const = default;
};

struct OwnRecord {
    std::string node{};
    std::uint64_t run = 0;
    // Counts the owners of the stream: after a partition the higher (epoch, node) keeps it.
    std::uint64_t epoch = 0;
    std::int64_t since = 0;  // milliseconds of the owner's wall clock
    std::string mac{};

    bool operator==(const OwnRecord&) const = default;
};

// One process of a node.
struct NodeRun {
    std::string node{};
    std::uint64_t run = 0;

    bool operator==(const NodeRun&) const = default;
};

struct Event {
    enum class Kind : std::uint8_t { published, gone, moved, drain, kick };

    Kind kind = Kind::published;
    std::string node{};
    std::uint64_t run = 0;
    std::uint64_t epoch = 0;
    std::string stream{};  // empty for drain
    std::string mac{};

    bool operator==(const Event&) const = default;
};

// Letters, digits, '.', '_' and '-', at most kIdBytesMax.
bool is_good_id(std::string_view text);
// Reports whether a registry may contain this stream name.
bool is_good_stream(std::string_view text);

std::string text_of(const NodeRecord& node);
std::string text_of(const OwnRecord& own);
std::string text_of(const Event& event);
std::string_view name_of(Event::Kind kind);
std::string_view name_of(NodeRecord::State state);

// Errc::malformed.
Result<NodeRecord> parse_node(std::string_view id, std::string_view text);
Result<OwnRecord> parse_own(std::string_view text);
Result<Event> parse_event(std::string_view text);

// Reports whether the first claim precedes the second one.
bool is_higher(const OwnRecord& one, const OwnRecord& other);

}  // namespace live::engine::cluster
