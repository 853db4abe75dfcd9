#include "wire/rtcp/transport_feedback.hpp"

#include <algorithm>
#include <string>

#include "base/bytes/byte_reader.hpp"

namespace live::wire::rtcp {

namespace {

// 3.1.1: the status symbols, of two bits or one.
enum Symbol : std::uint8_t { kLost = 0, kSmallDelta = 1, kLargeDelta = 2, kWithoutDelta = 3 };

constexpr std::size_t kRunMax = 0x1FFF;
constexpr std::size_t kOneBitSymbols = 14;
constexpr std::size_t kTwoBitSymbols = 7;
constexpr int kSmallDeltaMax = 255;

Symbol symbol_of(const PacketStatus& status) {
    if (!status.received)
        return kLost;
    CHECK(status.ticks.has_value());
    return *status.ticks >= 0 && *status.ticks <= kSmallDeltaMax ? kSmallDelta : kLargeDelta;
}

// The statuses in a chunk.
std::size_t statuses_in(unsigned chunk) {
    return (chunk & 0x8000U) == 0 ? chunk & kRunMax : (chunk & 0x4000U) == 0 ? kOneBitSymbols : kTwoBitSymbols;
}

// The symbol of a chunk with `left` statuses left in it.
Symbol symbol_at(unsigned chunk, std::size_t left) {
    if ((chunk & 0x8000U) == 0)
        return static_cast<Symbol>(chunk >> 13 & 3U);
    return static_cast<Symbol>((chunk & 0x4000U) == 0 ? chunk >> (left - 1) & 1U : chunk >> 2 * (left - 1) & 3U);
}

std::size_t delta_bytes(Symbol symbol) { return symbol == kSmallDelta ? 1 : symbol == kLargeDelta ? 2 : 0; }

// The bytes of the deltas of the first `count` statuses in a chunk.
std::size_t delta_bytes(unsigned chunk, std::size_t count) {
    const std::size_t places = statuses_in(chunk);
    if ((chunk & 0x8000U) == 0)
        return count * delta_bytes(symbol_at(chunk, places));
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; ++i)
        sum += delta_bytes(symbol_at(chunk, places - i));
    return sum;
}

// A chunk for the start of `symbols`, and how many of them it covers. Run-length coding is used from half a vector of equal
// symbols.
std::pair<unsigned, std::size_t> next_chunk(std::span<const Symbol> symbols) {
    const auto end = std::ranges::find_if(symbols, [&](Symbol symbol) { return symbol != symbols.front(); });
    const auto run = std::min(static_cast<std::size_t>(end - symbols.begin()), kRunMax);
    const bool one_bit = std::ranges::none_of(symbols.first(std::min(symbols.size(), kOneBitSymbols)),
                                              [](Symbol symbol) { return symbol > kSmallDelta; });
    if (run >= (one_bit ? kOneBitSymbols : kTwoBitSymbols) || run == symbols.size())
        return {static_cast<unsigned>(symbols.front()) << 13 | static_cast<unsigned>(run), run};
    const std::size_t places = one_bit ? kOneBitSymbols : kTwoBitSymbols;
    const std::size_t count = std::min(symbols.size(), places);
    unsigned chunk = one_bit ? 0x8000U : 0xC000U;
    for (std::size_t i = 0; i < count; ++i)
        chunk |= static_cast<unsigned>(symbols[i]) << (places - 1 - i) * (one_bit ? 1 : 2);
    return {chunk, count};
}

}  // namespace

bool PacketStatuses::next(PacketStatus& status) {
    if (left_ == 0)
        return false;
    while (in_chunk_ == 0) {
        chunk_ = static_cast<unsigned>(chunks_[0] << 8 | chunks_[1]);
        chunks_ = chunks_.subspan(2);
        in_chunk_ = statuses_in(chunk_);
    }
    const Symbol symbol = symbol_at(chunk_, in_chunk_--);
    --left_;
    status = {.received = symbol != kLost, .ticks = std::nullopt};
    if (symbol == kSmallDelta)
        status.ticks = deltas_[0];
    else if (symbol == kLargeDelta)
        status.ticks = static_cast<std::int16_t>(deltas_[0] << 8 | deltas_[1]);
    deltas_ = deltas_.subspan(delta_bytes(symbol));
    return true;
}

Result<ArrivalReport> ArrivalReport::parse(const Packet& packet) {
    ByteReader in(packet.body);
    ArrivalReport report;
    report.sender_ssrc = TRY(in.u32be());
    report.media_ssrc = TRY(in.u32be());
    report.base_sequence = TRY(in.u16be());
    const std::size_t wanted = TRY(in.u16be());
    const std::uint32_t reference = TRY(in.u24be());
    report.reference_time = static_cast<std::int32_t>((reference & 0x800000U) != 0 ? reference | 0xFF000000U : reference);
    report.feedback_count = TRY(in.u8());
    if (wanted == 0)
        return Error(Errc::malformed, "RTCP: transport feedback of no packet");
    if (wanted > kFeedbackPacketsMax)
        return Error(Errc::limit, "RTCP: transport feedback of " + std::to_string(wanted) + " packets");
    PacketStatuses& statuses = report.statuses;
    statuses.chunks_ = in.rest();
    statuses.left_ = wanted;
    std::size_t bytes = 0;
    for (std::size_t left = wanted; left > 0;) {
        const unsigned chunk = TRY(in.u16be());
        const std::size_t count = std::min(statuses_in(chunk), left);
        if (count == 0)
            return Error(Errc::malformed, "RTCP: transport feedback with a run of none");
        bytes += delta_bytes(chunk, count);
        left -= count;
    }
    statuses.chunks_ = statuses.chunks_.first(statuses.chunks_.size() - in.rest().size());
    statuses.deltas_ = TRY(in.take(bytes));
    return report;
}

Result<TransportFeedback> parse_transport_feedback(const Packet& packet) {
    auto report = TRY(ArrivalReport::parse(packet));
    TransportFeedback feedback{report.sender_ssrc,    report.media_ssrc,     report.base_sequence,
                               report.reference_time, report.feedback_count, {}};
    for (PacketStatus status; report.statuses.next(status);)
        feedback.packets.push_back(status);
    return feedback;
}

void write(ByteWriter& out, const TransportFeedback& feedback) {
    CHECK(!feedback.packets.empty() && feedback.packets.size() <= kFeedbackPacketsMax);
    std::vector<Symbol> symbols;
    symbols.reserve(feedback.packets.size());
    for (const PacketStatus& status : feedback.packets)
        symbols.push_back(symbol_of(status));
    write_packet(out, Type::transport_feedback, kTransportWideFormat, [&] {
        const std::size_t from = out.size();
        out.u32be(feedback.sender_ssrc).u32be(feedback.media_ssrc).u16be(feedback.base_sequence);
        out.u16be(static_cast<std::uint16_t>(feedback.packets.size()));
        out.u24be(static_cast<std::uint32_t>(feedback.reference_time) & 0xFFFFFFU).u8(feedback.feedback_count);
        for (std::span<const Symbol> rest(symbols); !rest.empty();) {
            const auto [chunk, count] = next_chunk(rest);
            out.u16be(static_cast<std::uint16_t>(chunk));
            rest = rest.subspan(count);
        }
        for (std::size_t i = 0; i < symbols.size(); ++i) {
            if (symbols[i] == kSmallDelta)
                out.u8(static_cast<std::uint8_t>(*feedback.packets[i].ticks));
            else if (symbols[i] == kLargeDelta)
                out.u16be(static_cast<std::uint16_t>(*feedback.packets[i].ticks));
        }
        out.zeros((4 - (out.size() - from) % 4) % 4);
    });
}

}  // namespace live::wire::rtcp
