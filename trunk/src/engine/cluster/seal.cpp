#include "engine/cluster/seal.hpp"

#include <fmt/format.h>

#include "base/bytes/bytes.hpp"
#include "base/text/secret.hpp"
#include "engine/crypto/hmac_sha256.hpp"

namespace live::engine::cluster {

namespace {

bool is_recent(std::int64_t at, std::int64_t wall) {
    const std::int64_t apart = at < wall ? wall - at : at - wall;
    return apart <= Seal::kWindow.count();
}

}  // namespace

// Returns half of the tag, in hexadecimal. If OpenSSL fails, the MAC is empty and never valid.
std::string Seal::mac_of(std::string_view kind, std::string_view text) const {
    std::string mac;
    if (!is_on())
        return mac;
    const auto tag = crypto::hmac_sha256(as_bytes(secret_), as_bytes(fmt::format("millrace-{}\n{}", kind, text)));
    if (tag.ok())
        for (std::size_t i = 0; i < kMacBytes / 2; ++i)
            mac += fmt::format("{:02x}", (*tag)[i]);
    return mac;
}

std::string Seal::mac_of(NodeRecord node) const {
    node.mac.clear();
    return mac_of("node", fmt::format("{}\n{}|{}", node.id, text_of(node), node.at));
}

std::string Seal::mac_of(const OwnRecord& own, std::string_view stream) const {
    return mac_of("own", fmt::format("{}\n{}|{}|{}|{}", stream, own.node, own.run, own.epoch, own.since));
}

std::string Seal::mac_of(Event event) const {
    event.mac.clear();
    return mac_of("event", text_of(event));
}

bool Seal::is_same(std::string_view mac, std::string_view wanted) const {
    return !is_on() || (!wanted.empty() && same_secret(mac, wanted));
}

void Seal::put_on(NodeRecord& node, std::int64_t wall) const {
    node.at = is_on() ? wall : 0;
    node.mac = mac_of(node);
}
void Seal::put_on(OwnRecord& own, std::string_view stream) const { own.mac = mac_of(own, stream); }
void Seal::put_on(Event& event) const { event.mac = mac_of(event); }

bool Seal::is_good(const NodeRecord& node, std::int64_t wall) const {
    return !is_on() || (is_recent(node.at, wall) && is_same(node.mac, mac_of(node)));
}
bool Seal::is_good(const OwnRecord& own, std::string_view stream) const { return is_same(own.mac, mac_of(own, stream)); }
bool Seal::is_good_claim(OwnRecord own, std::string_view stream, std::int64_t wall) const {
    own.epoch = 0;
    return !is_on() || (is_recent(own.since, wall) && is_same(own.mac, mac_of(own, stream)));
}
bool Seal::is_good(const Event& event) const { return is_same(event.mac, mac_of(event)); }

}  // namespace live::engine::cluster
