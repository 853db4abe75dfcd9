// Demuxes our transport streams for tests: strict about all packet requirements of ISO/IEC 13818-1, and written from the
// specification, not from the muxer. Not for untrusted input: aborts on anything unexpected.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/ts/crc32.hpp"

namespace live::wire::ts {

struct TestUnit {
    int pid = 0;
    std::uint8_t stream_id = 0;
    std::uint64_t pts = 0;  // 90 kHz
    std::uint64_t dts = 0;
    bool random_access = false;
    std::optional<std::uint64_t> clock;  // 27 MHz
    std::size_t declared_bytes = 0;      // PES_packet_length
    std::vector<std::uint8_t> payload;

    bool operator==(const TestUnit&) const = default;
};

class TestDemuxer {
public:
    // Takes whole packets. A unit is complete when the next one of its PID begins, or after finish().
    void feed(Bytes input) {
        CHECK(input.size() % 188 == 0);
        for (; !input.empty(); input = input.subspan(188))
            read_packet(input.first(188));
    }
    void finish() {
        for (auto& [pid, unit] : open_)
            close(std::move(unit));
        open_.clear();
    }

    std::vector<TestUnit> units;                // in order of completion
    std::vector<std::uint64_t> clocks;          // every clock reference, 27 MHz
    std::vector<std::pair<int, bool>> packets;  // for every packet: the PID, and whether a unit begins
    std::map<int, int> streams;                 // PID to stream type, from the map
    int clock_pid = -1;
    int version = -1;
    std::size_t tables = 0;  // number of maps seen

private:
    void read_packet(Bytes packet) {
        CHECK(packet[0] == 0x47 && (packet[1] & 0x80) == 0 && (packet[3] & 0xC0) == 0);
        const int pid = (packet[1] & 0x1F) << 8 | packet[2];
        const bool begins = (packet[1] & 0x40) != 0;
        const bool has_field = (packet[3] & 0x20) != 0;
        const bool has_payload = (packet[3] & 0x10) != 0;
        CHECK(has_field || has_payload);
        packets.emplace_back(pid, begins);
        check_counter(pid, packet[3] & 0x0F, has_payload);
        Bytes payload = packet.subspan(4);
        bool random_access = false;
        std::optional<std::uint64_t> clock;
        if (has_field) {
            const std::size_t length = payload[0];
            CHECK(has_payload ? length <= 182 : length == 183);
            read_field(payload.subspan(1, length), pid, random_access, clock);
            payload = payload.subspan(1 + length);
        }
        if (!has_payload)
            return;
        if (pid == 0 || pid == 0x1001)
            return read_section(pid, payload);
        if (begins) {
            if (const auto old = open_.find(pid); old != open_.end()) {
                close(std::move(old->second));
                open_.erase(old);
            }
            TestUnit& unit = open_[pid];
            unit.pid = pid;
            unit.random_access = random_access;
            unit.clock = clock;
        }
        const auto unit = open_.find(pid);
        CHECK(unit != open_.end() && streams.contains(pid));
        unit->second.payload.insert(unit->second.payload.end(), payload.begin(), payload.end());
    }

    void check_counter(int pid, int counter, bool has_payload) {
        const auto [last, is_new] = counters_.try_emplace(pid, counter);
        if (!is_new)
            CHECK(counter == (has_payload ? (last->second + 1) % 16 : last->second));
        last->second = counter;
    }

    void read_field(Bytes field, int pid, bool& random_access, std::optional<std::uint64_t>& clock) {
        if (field.empty())
            return;
        random_access = (field[0] & 0x40) != 0;
        std::size_t at = 1;
        if ((field[0] & 0x10) != 0) {
            CHECK(pid == clock_pid);
            ByteReader in(field.subspan(1));
            const std::uint64_t high = MUST(in.u32be());
            const std::uint64_t low = MUST(in.u16be());
            CHECK((low & 0x7E00) == 0x7E00 && (low & 0x1FF) < 300);
            clock = (high << 1 | low >> 15) * 300 + (low & 0x1FF);
            clocks.push_back(*clock);
            at += 6;
        }
        for (; at < field.size(); ++at)
            CHECK(field[at] == 0xFF);
    }

    void read_section(int pid, Bytes payload) {
        CHECK(payload[0] == 0);
        payload = payload.subspan(1);
        const std::size_t size = 3U + ((payload[1] & 0x0FU) << 8 | payload[2]);
        for (const std::uint8_t byte : payload.subspan(size))
            CHECK(byte == 0xFF);
        const Bytes section = payload.first(size);
        CHECK(crc32_mpeg2(section) == 0);
        if (pid == 0)
            return;
        CHECK(section[0] == 2);
        ++tables;
        version = section[5] >> 1 & 0x1F;
        clock_pid = (section[8] & 0x1F) << 8 | section[9];
        streams.clear();
        for (Bytes rest = section.subspan(12, size - 12 - 4); !rest.empty();) {
            streams[(rest[1] & 0x1F) << 8 | rest[2]] = rest[0];
            rest = rest.subspan(5U + ((rest[3] & 0x0FU) << 8 | rest[4]));
        }
    }

    static std::uint64_t read_time(Bytes bytes, unsigned mark) {
        CHECK(bytes[0] >> 4 == mark && (bytes[0] & bytes[2] & bytes[4] & 1) == 1);
        const auto part = [&bytes](std::size_t at) { return std::uint64_t{bytes[at]}; };
        return (part(0) >> 1 & 7) << 30 | part(1) << 22 | part(2) >> 1 << 15 | part(3) << 7 | part(4) >> 1;
    }

    void close(TestUnit unit) {
        const std::vector<std::uint8_t> whole = std::move(unit.payload);
        const Bytes header(whole);
        CHECK(header.size() > 9 && header[0] == 0 && header[1] == 0 && header[2] == 1 && header[6] == 0x84);
        unit.stream_id = header[3];
        unit.declared_bytes = std::size_t{header[4]} << 8 | header[5];
        CHECK(unit.declared_bytes == 0 || unit.declared_bytes + 6 == whole.size());
        const bool has_dts = header[7] == 0xC0;
        CHECK((has_dts && header[8] == 10) || (header[7] == 0x80 && header[8] == 5));
        unit.pts = read_time(header.subspan(9, 5), has_dts ? 3 : 2);
        unit.dts = has_dts ? read_time(header.subspan(14, 5), 1) : unit.pts;
        const Bytes payload = header.subspan(9U + header[8]);
        unit.payload.assign(payload.begin(), payload.end());
        units.push_back(std::move(unit));
    }

    std::map<int, TestUnit> open_;
    std::map<int, int> counters_;
};

inline TestDemuxer demuxed(Bytes packets) {
    TestDemuxer demuxer;
    demuxer.feed(packets);
    demuxer.finish();
    return demuxer;
}

}  // namespace live::wire::ts
