#include "engine/cluster/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <tuple>
#include <utility>

#include "base/net/host_and_port.hpp"
#include "base/text/ascii.hpp"

namespace live::engine::cluster {

namespace {

constexpr std::array<std::string_view, 5> kKinds = {"published", "gone", "moved", "drain", "kick"};
constexpr std::array<std::string_view, 3> kStates = {"up", "draining", "edge"};

Error broken(std::string_view what) { return {Errc::malformed, fmt::format("the registry has {}", what)}; }

bool is_label(std::string_view text) {
    return text.size() <= kIdBytesMax && std::ranges::all_of(text, [](char letter) {
               return ascii::is_alphanumeric(letter) || letter == '.' || letter == '_' || letter == '-';
           });
}

bool is_mac(std::string_view text) {
    return text.size() == kMacBytes && std::ranges::all_of(text, [](char letter) {
               return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
           });
}

std::string with_mac(std::string text, const std::string& mac) { return mac.empty() ? text : text + "|" + mac; }

// Reads the fields of a record in order and stores the first error.
class Fields {
public:
    explicit Fields(std::string_view text) : rest_(text), ok_(text.size() <= kRecordBytesMax) {}

    std::string_view text() {
        const std::size_t end = rest_.find('|');
        const std::string_view field = rest_.substr(0, end);
        ok_ = ok_ && !ended_;
        ended_ = end == std::string_view::npos;
        rest_ = ended_ ? std::string_view() : rest_.substr(end + 1);
        return field;
    }
    // The remaining text, including '|'.
    std::string_view remaining() {
        ok_ = ok_ && !ended_;
        ended_ = true;
        return std::exchange(rest_, {});
    }
    template <class Number>
    Number number(std::uint64_t max) {
        const std::string_view field = text();
        std::uint64_t value = 0;
        const auto [stop, failure] = std::from_chars(field.data(), field.data() + field.size(), value);
        ok_ = ok_ && !field.empty() && failure == std::errc() && stop == field.data() + field.size() && value <= max;
        return ok_ ? static_cast<Number>(value) : Number{};
    }
    std::string label() {
        const std::string_view field = text();
        ok_ = ok_ && is_label(field);
        return ok_ ? std::string(field) : std::string();
    }
    template <std::size_t kCount>
    std::size_t one_of(const std::array<std::string_view, kCount>& names) {
        return index_in(names, text());
    }
    template <std::size_t kCount>
    std::size_t index_in(const std::array<std::string_view, kCount>& names, std::string_view name) {
        const auto found = std::ranges::find(names, name);
        ok_ = ok_ && found != names.end();
        return ok_ ? static_cast<std::size_t>(found - names.begin()) : 0;
    }
    bool is_at_end() const { return ended_; }
    std::string mac() {
        const std::string_view field = text();
        ok_ = ok_ && is_mac(field);
        return ok_ ? std::string(field) : std::string();
    }
    void require(bool holds) { ok_ = ok_ && holds; }
    bool is_good() const { return ok_ && ended_; }

private:
    std::string_view rest_;
    bool ok_;
    bool ended_ = false;
};

constexpr std::uint64_t kPortMax = std::numeric_limits<std::uint16_t>::max();

}  // namespace

bool is_good_id(std::string_view text) { return !text.empty() && is_label(text); }

bool is_good_stream(std::string_view text) { return !text.empty() && text.size() <= kStreamBytesMax; }

std::string_view name_of(Event::Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::string_view name_of(NodeRecord::State state) { return kStates[static_cast<std::size_t>(state)]; }

std::string text_of(const NodeRecord& node) {
    return with_mac(fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", node.run, node.host, node.rtmp_port, node.http_port,
                                node.api_port, node.region, name_of(node.state), node.capacity, node.load, node.version),
                    node.mac.empty() ? node.mac : fmt::format("{}|{}", node.at, node.mac));
}

std::string text_of(const OwnRecord& own) {
    return with_mac(fmt::format("{}|{}|{}|{}", own.node, own.run, own.epoch, own.since), own.mac);
}

std::string text_of(const Event& event) {
    const std::string_view colon = event.mac.empty() ? "" : ":";
    return fmt::format("{}{}{}|{}|{}|{}|{}", name_of(event.kind), colon, event.mac, event.node, event.run, event.epoch,
                       event.stream);
}

Result<NodeRecord> parse_node(std::string_view id, std::string_view text) {
    if (!is_good_id(id))
        return broken("a node with a bad id");
    Fields fields(text);
    NodeRecord node;
    node.id = std::string(id);
    node.run = fields.number<std::uint64_t>(kNumberMax);
    node.host = std::string(fields.text());
    node.rtmp_port = fields.number<std::uint16_t>(kPortMax);
    node.http_port = fields.number<std::uint16_t>(kPortMax);
    node.api_port = fields.number<std::uint16_t>(kPortMax);
    node.region = fields.label();
    node.state = static_cast<NodeRecord::State>(fields.one_of(kStates));
    node.capacity = fields.number<std::uint64_t>(kNumberMax);
    node.load = fields.number<std::uint64_t>(kNumberMax);
    node.version = fields.label();
    if (!fields.is_at_end()) {
        node.at = fields.number<std::int64_t>(kNumberMax);
        node.mac = fields.mac();
    }
    const auto place = parse_host(node.host);
    fields.require(place.ok() && !place->port && place->host == node.host);
    if (!fields.is_good())
        return broken("a node with a bad record");
    return node;
}

Result<OwnRecord> parse_own(std::string_view text) {
    Fields fields(text);
    OwnRecord own;
    own.node = fields.label();
    own.run = fields.number<std::uint64_t>(kNumberMax);
    own.epoch = fields.number<std::uint64_t>(kNumberMax);
    own.since = fields.number<std::int64_t>(kNumberMax);
    if (!fields.is_at_end())
        own.mac = fields.mac();
    if (!fields.is_good() || own.node.empty())
        return broken("a stream with a bad owner");
    return own;
}

Result<Event> parse_event(std::string_view text) {
    Fields fields(text);
    Event event;
    const std::string_view head = fields.text();
    const std::size_t colon = std::min(head.find(':'), head.size());
    event.kind = static_cast<Event::Kind>(fields.index_in(kKinds, head.substr(0, colon)));
    event.mac = head.substr(std::min(colon + 1, head.size()));
    fields.require(colon == head.size() || is_mac(event.mac));
    event.node = fields.label();
    event.run = fields.number<std::uint64_t>(kNumberMax);
    event.epoch = fields.number<std::uint64_t>(kNumberMax);
    event.stream = std::string(fields.remaining());
    fields.require(event.kind == Event::Kind::drain ? event.stream.empty() : is_good_stream(event.stream));
    if (!fields.is_good() || event.node.empty())
        return broken("a bad event");
    return event;
}

bool is_higher(const OwnRecord& one, const OwnRecord& other) {
    return std::tie(one.epoch, one.node) > std::tie(other.epoch, other.node);
}

}  // namespace live::engine::cluster
