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

void append_symbols(std::vector<Symbol>& symbols, unsigned chunk, std::size_t wanted) {
    const auto add = [&](unsigned symbol) {
        if (symbols.size() < wanted)
            symbols.push_back(static_cast<Symbol>(symbol));
    };
    if ((chunk & 0x8000U) == 0) {
        const std::size_t run = std::min<std::size_t>(chunk & kRunMax, wanted - symbols.size());
        symbols.insert(symbols.end(), run, static_cast<Symbol>(chunk >> 13 & 3U));
    } else if ((chunk & 0x4000U) == 0) {
        for (std::size_t i = 0; i < kOneBitSymbols; ++i)
            add(chunk >> (kOneBitSymbols - 1 - i) & 1U);
    } else {
        for (std::size_t i = 0; i < kTwoBitSymbols; ++i)
            add(chunk >> 2 * (kTwoBitSymbols - 1 - i) & 3U);
    }
}

Result<PacketStatus> read_delta(ByteReader& in, Symbol symbol) {
    PacketStatus status{.received = symbol != kLost, .ticks = std::nullopt};
    if (symbol == kSmallDelta)
        status.ticks = TRY(in.u8());
    else if (symbol == kLargeDelta)
        status.ticks = static_cast<std::int16_t>(TRY(in.u16be()));
    return status;
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

Result<TransportFeedback> parse_transport_feedback(const Packet& packet) {
    ByteReader in(packet.body);
    TransportFeedback feedback;
    feedback.sender_ssrc = TRY(in.u32be());
    feedback.media_ssrc = TRY(in.u32be());
    feedback.base_sequence = TRY(in.u16be());
    const std::size_t wanted = TRY(in.u16be());
    const std::uint32_t reference = TRY(in.u24be());
    feedback.reference_time = static_cast<std::int32_t>((reference & 0x800000U) != 0 ? reference | 0xFF000000U : reference);
    feedback.feedback_count = TRY(in.u8());
    if (wanted == 0)
        return Error(Errc::malformed, "RTCP: transport feedback of no packet");
    if (wanted > kFeedbackPacketsMax)
        return Error(Errc::limit, "RTCP: transport feedback of " + std::to_string(wanted) + " packets");
    std::vector<Symbol> symbols;
    symbols.reserve(wanted);
    while (symbols.size() < wanted) {
        const std::size_t before = symbols.size();
        append_symbols(symbols, TRY(in.u16be()), wanted);
        if (symbols.size() == before)
            return Error(Errc::malformed, "RTCP: transport feedback with a run of none");
    }
    feedback.packets.reserve(wanted);
    for (const Symbol symbol : symbols)
        feedback.packets.push_back(TRY(read_delta(in, symbol)));
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
