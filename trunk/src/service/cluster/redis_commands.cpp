#include "service/cluster/redis_commands.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/time.hpp"

namespace live::service::cluster {

namespace cluster = engine::cluster;
using engine::redis::Reply;

namespace {

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

constexpr std::size_t kScanCount = 500;
// Above the number of streams in any registry.
constexpr std::size_t kNodesRead = 4'096;

// Begins every script that reads records. One byte above the limit is enough to refuse a record. A longer value from another
// writer would exceed the limit of a reply and end the connection.
std::string script_of(std::string_view body) {
    return fmt::format(R"(
local function read(key)
  local text = redis.call('GETRANGE', key, 0, {})
  return #text > 0 and text
end
)",
                       cluster::kRecordBytesMax) +
           std::string(body);
}

// The lease of a node is a key that expires. The set of nodes, sorted by the end of their leases on the registry's clock, is for
// listing them. Returns 1 when the lease had not ended, 2 when it was another run's.
constexpr std::string_view kBeat = R"(
local known = read(KEYS[1])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
local now = redis.call('TIME')
redis.call('ZADD', KEYS[2], now[1] * 1000 + ARGV[3], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now[1] * 1000 - 60000)
if not known then return 0 end
return string.match(known, '^(%d+)|') == ARGV[4] and 1 or 2
)";

// ARGV: node, run, epoch, since, fresh, replaces, age in ms, prefix, stream, channel, NODE|RUN that is dead.
constexpr std::string_view kClaim = R"(
local held = read(KEYS[1])
local epoch = tonumber(ARGV[3])
local kind = 'published'
if held then
  local node, run, at = string.match(held, '^([^|]*)|(%d+)|(%d+)|')
  at = tonumber(at)
  if node and at then
    local ours = node == ARGV[1] and run == ARGV[2]
    local alive = false
    if not ours and node .. '|' .. run ~= ARGV[11] then
      local lease = read(ARGV[8] .. 'node:' .. node)
      alive = lease and string.match(lease, '^(%d+)|') == run
      if alive and ARGV[5] == '1' and string.match(lease, '^%d+|[^|]*|%d+|%d+|%d+|[^|]*|(%a+)|') == 'draining' then alive = false end
    end
    if alive and ARGV[5] == '1' and ARGV[6] == '0' then return {0, held} end
    if alive and ARGV[5] == '0' and (at > epoch or (at == epoch and node > ARGV[1])) then return {0, held} end
    if ARGV[5] == '1' then epoch = at + 1
    elseif ours then epoch = math.max(epoch, at)
    elseif not alive then epoch = math.max(epoch, at + 1) end
    kind = (ours and ARGV[5] == '0') and '' or 'moved'
  end
end
if epoch < 1 then epoch = 1 end
local text = string.format('%.0f', epoch)
redis.call('SET', KEYS[1], ARGV[1] .. '|' .. ARGV[2] .. '|' .. text .. '|' .. ARGV[4], 'PX', ARGV[7])
if kind ~= '' then
  redis.call('PUBLISH', ARGV[10], kind .. '|' .. ARGV[1] .. '|' .. ARGV[2] .. '|' .. text .. '|' .. ARGV[9])
end
return {1, text}
)";

// ARGV: node, run, epoch or 0, stream, channel.
constexpr std::string_view kWithdraw = R"(
local held = read(KEYS[1])
if not held then return 0 end
local node, run, epoch = string.match(held, '^([^|]*)|(%d+)|(%d+)|')
if node ~= ARGV[1] or run ~= ARGV[2] or (ARGV[3] ~= '0' and ARGV[3] ~= epoch) then return 0 end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[5], 'gone|' .. node .. '|' .. run .. '|' .. epoch .. '|' .. ARGV[4])
return 1
)";

// ARGV: prefix.
constexpr std::string_view kLook = R"(
local held = read(KEYS[1])
if not held then return {'', ''} end
local node = string.match(held, '^([^|]*)|')
local lease = node and read(ARGV[1] .. 'node:' .. node)
return {held, lease or ''}
)";

// ARGV: prefix, how many, bytes of an id.
constexpr std::string_view kNodes = R"(
local found = {}
for _, node in ipairs(redis.call('ZRANGE', KEYS[1], 0, ARGV[2])) do
  local lease = #node <= tonumber(ARGV[3]) and read(ARGV[1] .. 'node:' .. node)
  if lease then table.insert(found, node); table.insert(found, lease) end
end
return found
)";

// ARGV: cursor, pattern, keys per page, bytes of a key.
constexpr std::string_view kScan = R"(
local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
local found = {}
for _, key in ipairs(page[2]) do
  if #key <= tonumber(ARGV[4]) then table.insert(found, key) end
end
return {page[1], found}
)";

// Like MGET: an empty text for a missing key and for one of another type.
constexpr std::string_view kOwners = R"(
local found = {}
for at, key in ipairs(KEYS) do
  local good, text = pcall(read, key)
  found[at] = good and text or ''
end
return found
)";

std::string key_of(std::string_view kind, std::string_view name) { return fmt::format("{}{}:{}", kPrefix, kind, name); }
std::string flag(bool on) { return on ? "1" : "0"; }

cluster::Answer broken(const Reply& reply) {
    return cluster::Refusal{reply.is_error() ? reply.text.substr(0, 256) : "an answer of another kind"};
}

cluster::Answer claim_answer(const Reply& reply) {
    if (!reply.is_list(2) || reply.items[0].kind != Reply::Kind::number || !reply.items[1].is_text())
        return broken(reply);
    if (reply.items[0].number == 0)
        return cluster::ClaimDone{false, 0, reply.items[1].text};
    const auto own = cluster::parse_own("n|0|" + reply.items[1].text + "|0");
    return own.ok() ? cluster::Answer(cluster::ClaimDone{true, own->epoch, {}}) : broken(reply);
}

cluster::Answer nodes_answer(const Reply& reply) {
    if (reply.kind != Reply::Kind::list || reply.items.size() > 2 * kNodesRead)
        return broken(reply);
    cluster::NodesDone done;
    for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2)
        if (reply.items[i].is_text() && reply.items[i + 1].is_text())
            done.nodes.emplace_back(reply.items[i].text, reply.items[i + 1].text);
    return done;
}

}  // namespace

std::vector<std::string> words_of(const cluster::Command& command) {
    const std::string prefix(kPrefix);
    const std::string channel(kEventChannel);
    const auto age = std::to_string(std::chrono::milliseconds(kOwnershipAge).count());
    using Words = std::vector<std::string>;
    return std::visit(Overloaded{
                          [&](const cluster::Beat& beat) {
                              return Words{"EVAL",
                                           script_of(kBeat),
                                           "2",
                                           key_of("node", beat.node.id),
                                           prefix + "nodes",
                                           beat.node.id,
                                           text_of(beat.node),
                                           std::to_string(beat.lease.count()),
                                           std::to_string(beat.node.run)};
                          },
                          [&](const cluster::Claim& claim) {
                              return Words{"EVAL",
                                           script_of(kClaim),
                                           "1",
                                           key_of("own", claim.stream),
                                           claim.own.node,
                                           std::to_string(claim.own.run),
                                           std::to_string(claim.own.epoch),
                                           std::to_string(claim.own.since) + (claim.own.mac.empty() ? "" : "|" + claim.own.mac),
                                           flag(claim.is_fresh),
                                           flag(claim.replaces),
                                           age,
                                           prefix,
                                           claim.stream,
                                           channel,
                                           claim.dead ? fmt::format("{}|{}", claim.dead->node, claim.dead->run) : std::string()};
                          },
                          [&](const cluster::Withdraw& withdraw) {
                              return Words{"EVAL",
                                           script_of(kWithdraw),
                                           "1",
                                           key_of("own", withdraw.stream),
                                           withdraw.own.node,
                                           std::to_string(withdraw.own.run),
                                           std::to_string(withdraw.own.epoch),
                                           withdraw.stream,
                                           channel};
                          },
                          [&](const cluster::StreamLookup& look) {
                              return Words{"EVAL", script_of(kLook), "1", key_of("own", look.stream), prefix};
                          },
                          [&](const cluster::ListNodes&) {
                              return Words{"EVAL",
                                           script_of(kNodes),
                                           "1",
                                           prefix + "nodes",
                                           prefix,
                                           std::to_string(kNodesRead - 1),
                                           std::to_string(cluster::kIdBytesMax)};
                          },
                      },
                      command.what);
}

cluster::Answer answer_of(const cluster::Command& command, const Reply& reply) {
    using Answer = cluster::Answer;
    return std::visit(Overloaded{
                          [&](const cluster::Beat&) {
                              return reply.kind == Reply::Kind::number
                                         ? Answer(cluster::BeatDone{reply.number == 1, reply.number == 2})
                                         : broken(reply);
                          },
                          [&](const cluster::Claim&) { return claim_answer(reply); },
                          [&](const cluster::Withdraw&) {
                              return reply.kind == Reply::Kind::number ? Answer(cluster::WithdrawDone{}) : broken(reply);
                          },
                          [&](const cluster::StreamLookup&) {
                              return reply.is_list(2) && reply.items[0].is_text() && reply.items[1].is_text()
                                         ? Answer(cluster::StreamLookupDone{reply.items[0].text, reply.items[1].text})
                                         : broken(reply);
                          },
                          [&](const cluster::ListNodes&) { return nodes_answer(reply); },
                      },
                      command.what);
}

std::vector<std::string> scan_words(std::string_view cursor) {
    return {"EVAL",
            std::string(kScan),
            "0",
            std::string(cursor),
            key_of("own", "*"),
            std::to_string(kScanCount),
            std::to_string(key_of("own", "").size() + cluster::kStreamBytesMax)};
}

Result<ScanPage> parse_scan(const Reply& reply) {
    if (!reply.is_list(2) || !reply.items[0].is_text() || reply.items[1].kind != Reply::Kind::list)
        return Error(Errc::malformed, reply.is_error() ? reply.text.substr(0, 256) : "a malformed answer to SCAN");
    ScanPage page;
    page.cursor = reply.items[0].text;
    const std::string prefix = key_of("own", "");
    for (const Reply& key : reply.items[1].items)
        if (key.is_text() && key.text.starts_with(prefix) && cluster::is_good_stream(key.text.substr(prefix.size())))
            page.streams.push_back(key.text.substr(prefix.size()));
    return page;
}

std::vector<std::string> owner_words(const std::vector<std::string>& streams) {
    std::vector<std::string> words = {"EVAL", script_of(kOwners), std::to_string(streams.size())};
    for (const std::string& stream : streams)
        words.push_back(key_of("own", stream));
    return words;
}

}  // namespace live::service::cluster
