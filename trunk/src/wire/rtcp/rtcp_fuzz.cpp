// Arbitrary bytes as an RTCP datagram. A parsed packet must write and read back the same.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/rtcp/report.hpp"
#include "wire/rtcp/transport_feedback.hpp"

namespace {

using namespace live;
using namespace live::wire::rtcp;

template <class T, class Parse>
void check_again(const T& value, Parse parse) {
    ByteWriter out;
    write(out, value);
    const auto bytes = out.release();
    PacketReader reader(bytes);
    const auto packet = reader.next();
    CHECK(packet.ok() && packet->has_value());
    const auto again = parse(**packet);
    CHECK(again.ok() && *again == value);
}

bool has_every_delta(const TransportFeedback& feedback) {
    for (const PacketStatus& status : feedback.packets)
        if (status.received && !status.ticks)
            return false;
    return true;
}

void check_feedback(const Packet& packet) {
    if (packet.is(Type::transport_feedback, kNackFormat)) {
        // Not written back: a list with repeated or unordered numbers may need more entries than it arrived in.
        static_cast<void>(parse_nack(packet));
    } else if (packet.is(Type::transport_feedback, kTransportWideFormat)) {
        const auto feedback = parse_transport_feedback(packet);
        if (feedback.ok() && has_every_delta(*feedback)) {
            // A small delta may have been encoded as a large one, so only the values must match, not the bytes.
            check_again(*feedback, parse_transport_feedback);
        }
    } else if (packet.is(Type::payload_feedback, kPliFormat)) {
        if (const auto pli = parse_pli(packet); pli.ok())
            check_again(*pli, parse_pli);
    } else if (packet.is(Type::payload_feedback, kFirFormat)) {
        if (const auto fir = parse_fir(packet); fir.ok())
            check_again(*fir, parse_fir);
    } else if (packet.is(Type::payload_feedback, kApplicationFormat)) {
        if (const auto remb = parse_remb(packet); remb.ok())
            check_again(*remb, parse_remb);
    }
}

void check_report(const Packet& packet) {
    if (packet.type == Type::sender_report) {
        if (const auto report = parse_sender_report(packet); report.ok())
            check_again(*report, parse_sender_report);
    } else if (packet.type == Type::receiver_report) {
        if (const auto report = parse_receiver_report(packet); report.ok())
            check_again(*report, parse_receiver_report);
    } else if (packet.type == Type::goodbye) {
        if (const auto goodbye = parse_goodbye(packet); goodbye.ok())
            check_again(*goodbye, parse_goodbye);
    } else if (packet.type == Type::source_description) {
        if (const auto names = parse_source_names(packet); names.ok())
            for (const SourceName& name : *names) {
                ByteWriter out;
                write(out, name);
                CHECK(out.size() % 4 == 0);
            }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    PacketReader reader(Bytes(data, size));
    while (true) {
        const auto packet = reader.next();
        if (!packet.ok() || !packet->has_value())
            return 0;
        check_report(**packet);
        check_feedback(**packet);
    }
}
