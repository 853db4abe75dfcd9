#include "wire/rtp_payload/av1.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/bytes/byte_reader.hpp"

namespace live::wire::rtp_payload {

namespace {

// The aggregation header, 4.4.
constexpr unsigned kContinues = 0x80;
constexpr unsigned kGoesOn = 0x40;
constexpr unsigned kNewSequence = 0x08;
constexpr std::size_t kCountMax = 3;  // the largest element count in the header; with a count, the last element has no length

// The OBU header (AV1 Bitstream & Decoding Process, 5.3.2).
constexpr unsigned kHasExtension = 0x04;
constexpr unsigned kHasSize = 0x02;
constexpr std::uint8_t kSequenceHeader = 1;
constexpr std::uint8_t kTemporalDelimiter = 2;
constexpr std::uint8_t kTileGroup = 4;
constexpr std::uint8_t kRedundantHeader = 7;
constexpr std::uint8_t kTileList = 8;
constexpr std::uint8_t kPadding = 15;

constexpr std::size_t kObusMax = 256;    // of one frame that we send
constexpr std::size_t kLengthBytes = 3;  // maximum size of a length field in a packet

Error bad(const char* what) { return {Errc::malformed, std::string("AV1 in RTP: ") + what}; }

std::uint8_t type_of(std::uint8_t header) { return header >> 3 & 0xF; }

// At most 32 bits (AV1 bitstream specification, 4.10.5).
Result<std::size_t> leb128(ByteReader& in) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 5; ++i) {
        const unsigned byte = TRY(in.u8());
        value |= std::uint64_t{byte & 0x7FU} << 7 * i;
        if ((byte & 0x80U) == 0 && value <= 0xFFFFFFFF)
            return static_cast<std::size_t>(value);
    }
    return bad("a length of more than 32 bits");
}

template <class Sink>
void write_leb128(std::size_t value, Sink sink) {
    for (; value >= 0x80; value >>= 7)
        sink(static_cast<std::uint8_t>(value | 0x80));
    sink(static_cast<std::uint8_t>(value));
}

bool is_carried(std::uint8_t type) { return type != kTemporalDelimiter && type != kTileList && type != kPadding; }

struct Obu {
    std::array<std::uint8_t, 2> header{};  // without the size bit
    std::size_t header_bytes = 1;
    Bytes body;

    std::size_t bytes() const { return header_bytes + body.size(); }
};

Result<Obu> read_obu(ByteReader& in) {
    Obu obu;
    const unsigned first = TRY(in.u8());
    obu.header[0] = static_cast<std::uint8_t>(first & ~kHasSize);
    if ((first & kHasExtension) != 0) {
        obu.header[1] = TRY(in.u8());
        obu.header_bytes = 2;
    }
    const std::size_t size = (first & kHasSize) != 0 ? TRY(leb128(in)) : in.remaining();
    obu.body = TRY(in.take(size));
    return obu;
}

Result<std::vector<Obu>> split(Bytes frame) {
    std::vector<Obu> obus;
    ByteReader in(frame);
    while (!in.at_end()) {
        const auto obu = read_obu(in);
        if (!obu.ok())
            return bad("OBUs whose sizes do not fit");
        if (!is_carried(type_of(obu->header[0])))
            continue;
        if (obus.size() == kObusMax)
            return Error(Errc::limit, "AV1 in RTP: more than " + std::to_string(kObusMax) + " OBUs");
        obus.push_back(*obu);
    }
    return obus;
}

// Fills packets with elements. Space for a length is reserved in each, so that no data moves when the last turns out to need
// none.
class Packer {
public:
    Packer(std::size_t payload_bytes_max, bool begins_sequence, PayloadList& out)
        : out_(out), room_max_(payload_bytes_max - 1), begins_sequence_(begins_sequence) {}

    void add(const Obu& obu) {
        std::vector<std::uint8_t> whole(obu.header.begin(), obu.header.begin() + static_cast<std::ptrdiff_t>(obu.header_bytes));
        whole.insert(whole.end(), obu.body.begin(), obu.body.end());
        Bytes rest(whole);
        while (!rest.empty()) {
            if (room() < kLengthBytes + 2)
                flush(false);
            const Bytes piece = rest.first(std::min(rest.size(), room() - kLengthBytes));
            rest = rest.subspan(piece.size());
            elements_.emplace_back(piece.begin(), piece.end());
            used_ += kLengthBytes + piece.size();
            if (!rest.empty())
                flush(true);
        }
    }
    void flush(bool goes_on) {
        if (elements_.empty())
            return;
        const std::size_t counted = elements_.size() <= kCountMax ? elements_.size() : 0;
        unsigned head = static_cast<unsigned>(counted << 4);
        head |= continues_ ? kContinues : 0U;
        head |= goes_on ? kGoesOn : 0U;
        head |= begins_sequence_ ? kNewSequence : 0U;
        out_.append(static_cast<std::uint8_t>(head));
        for (std::size_t i = 0; i < elements_.size(); ++i) {
            if (counted == 0 || i + 1 < elements_.size())
                write_leb128(elements_[i].size(), [this](std::uint8_t byte) { out_.append(byte); });
            out_.append(elements_[i]);
        }
        out_.end_payload();
        elements_.clear();
        used_ = 0;
        continues_ = goes_on;
        begins_sequence_ = false;
    }

private:
    std::size_t room() const { return room_max_ - used_; }

    PayloadList& out_;
    std::vector<std::vector<std::uint8_t>> elements_;
    std::size_t room_max_;
    std::size_t used_ = 0;
    bool continues_ = false;
    bool begins_sequence_;
};

// Whether this payload can be the first of a frame. Certain at a new sequence; otherwise an OBU must start here, and not one that
// can only follow a frame header.
bool may_begin(Bytes payload) {
    if (payload.size() < 2 || (payload[0] & kContinues) != 0)
        return false;
    if ((payload[0] & kNewSequence) != 0)
        return true;
    ByteReader in(payload.subspan(1));
    if ((payload[0] >> 4 & 3) != 1 && !leb128(in).ok())
        return false;
    const auto first = in.u8();
    return first.ok() && type_of(*first) != kTileGroup && type_of(*first) != kRedundantHeader;
}

}  // namespace

Result<void> Av1Depacketizer::push(const Fragment& fragment) {
    if (!frames_.admit(fragment, may_begin(fragment.payload)))
        return {};
    if (frames_.begins_with(fragment))
        is_inside_ = false;
    auto read_it = read(fragment.payload);
    if (!read_it.ok())
        frames_.lose();
    frames_.set_unfinished(is_inside_);
    frames_.finish(fragment);
    return read_it;
}

Result<void> Av1Depacketizer::read(Bytes payload) {
    ByteReader in(payload);
    if (in.at_end())
        return {};
    const unsigned head = TRY(in.u8());
    const std::size_t counted = head >> 4 & 3U;
    if (in.at_end())
        return bad("no element");
    for (std::size_t i = 0; !in.at_end(); ++i) {
        const bool is_last_counted = counted != 0 && i + 1 == counted;
        const std::size_t size = is_last_counted ? in.remaining() : TRY(leb128(in));
        const Bytes element = TRY(in.take(size));
        const bool continues = i == 0 && (head & kContinues) != 0;
        const bool goes_on = in.at_end() && (head & kGoesOn) != 0;
        TRY(take_element(element, continues, goes_on));
    }
    return {};
}

Result<void> Av1Depacketizer::take_element(Bytes element, bool continues, bool goes_on) {
    if (continues != is_inside_)
        return bad("pieces out of their order");
    if (!continues)
        open_obu_.clear();
    if (element.size() > kFrameBytesMax - open_obu_.size())
        return Error(Errc::limit, "AV1 in RTP: an OBU that is too long");
    is_inside_ = goes_on;
    if (!continues && !goes_on)
        return append_obu(element);
    open_obu_.insert(open_obu_.end(), element.begin(), element.end());
    return goes_on ? Result<void>() : append_obu(open_obu_);
}

Result<void> Av1Depacketizer::append_obu(Bytes bytes) {
    if (bytes.empty())
        return {};
    ByteReader in(bytes);
    const Obu obu = TRY(read_obu(in));
    const std::uint8_t type = type_of(obu.header[0]);
    if (!is_carried(type))
        return {};
    if (type == kSequenceHeader)
        frames_.set_key();
    frames_.append(std::array{static_cast<std::uint8_t>(obu.header[0] | kHasSize)});
    frames_.append(Bytes(obu.header).subspan(1, obu.header_bytes - 1));
    write_leb128(obu.body.size(), [this](std::uint8_t byte) { frames_.append(std::array{byte}); });
    frames_.append(obu.body);
    return {};
}

Result<void> packetize_av1(Bytes frame, std::size_t payload_bytes_max, PayloadList& out) {
    CHECK(payload_bytes_max >= kPayloadBytesMin);
    const std::vector<Obu> obus = TRY(split(frame));
    const bool begins_sequence =
        std::ranges::any_of(obus, [](const Obu& obu) { return type_of(obu.header[0]) == kSequenceHeader; });
    Packer packer(payload_bytes_max, begins_sequence, out);
    for (const Obu& obu : obus)
        packer.add(obu);
    packer.flush(false);
    return {};
}

}  // namespace live::wire::rtp_payload
