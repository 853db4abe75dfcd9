// TsReader: reads a transport stream of any origin: finds its packets, follows one program through changes of its tables, and
// returns the frames of its streams, which containers and sources take as they are. The opposite of TsConverter.
//
// H.264, HEVC, AV1; AAC in ADTS and LATM, MPEG audio, AC-3, E-AC-3, Opus; SCTE-35 sections, ID3 and KLV as data, unchanged.
// No input is an error: unreadable parts are left out and counted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"
#include "wire/codec/frame.hpp"
#include "wire/ts/clock.hpp"
#include "wire/ts/read/packet.hpp"
#include "wire/ts/read/packet_sync.hpp"
#include "wire/ts/read/pes_reader.hpp"
#include "wire/ts/read/psi_reader.hpp"
#include "wire/ts/read/section_reader.hpp"

namespace live::wire::ts {

class TsReader {
public:
    static constexpr std::size_t kTracksMax = 16;  // of a kind; further streams are left out
    // The bound of all incomplete units together: the one that would exceed it is dropped.
    static constexpr std::size_t kHeldBytesMax = 16U << 20;
    // Further tracks wait for the first frame of the first one of their kind, which players take for the main one; but not for
    // more frames than this.
    static constexpr std::uint32_t kFramesLeftOut = 200;

    struct Options {
        std::uint16_t program = 0;  // its number; 0: the first in the list
    };
    struct Unit {
        MediaKind kind = MediaKind::data;
        StreamFormat format = StreamFormat::unknown;
        // Data is a section, or the payload of a PES packet. Without a time it takes that of the newest image.
        codec::Frame frame;
    };
    struct TrackInfo {
        std::uint16_t pid = 0;
        StreamFormat format = StreamFormat::unknown;
        codec::TrackId id{};
        std::string language;
    };
    struct Counters {
        std::uint64_t packets = 0;
        std::uint64_t skipped_bytes = 0;  // that belong to no packet
        std::uint64_t damaged = 0;        // packets with the error indicator, or invalid ones
        std::uint64_t scrambled = 0;
        std::uint64_t gaps = 0;           // in continuity counters
        std::uint64_t bad_tables = 0;     // sections with wrong checksums or contents
        std::uint64_t lost_units = 0;     // units that were cut or cannot be read
        std::uint64_t skipped_audio = 0;  // bytes between audio frames
    };

    TsReader();
    explicit TsReader(Options options);
    ~TsReader();
    TsReader(const TsReader&) = delete;
    TsReader& operator=(const TsReader&) = delete;

    // Input of any size; take all units out before the next.
    void feed(Bytes input);
    // The end of the stream: units of unknown length are complete.
    void finish();
    std::optional<Unit> next();

    // Returns the tracks of the chosen program, in the order of its map. version() counts changes.
    std::vector<TrackInfo> tracks() const;
    std::uint32_t version() const { return version_; }
    std::uint16_t program() const { return program_; }
    std::uint16_t map_pid() const { return map_pid_; }
    Counters counters() const;
    // Memory of unfinished units.
    std::size_t held_bytes() const { return held_; }

private:
    class Stream;
    static constexpr std::uint16_t kNoPid = 0x1FFF;  // that of null packets

    // The sections of one PID.
    struct Table {
        SectionReader sections;
        // The latest packet that was read with all its sections, and changes nothing when it is read again. Encoders repeat
        // tables ten times a second.
        std::vector<std::uint8_t> known{};
    };

    void take(Bytes bytes);
    void take_tables(const Packet& packet, Table& table, void (TsReader::*read)(Bytes));
    void read_association(Bytes section);
    void read_map(Bytes section);
    void forget_program();
    void end(Stream& stream);
    void take_media(Stream& stream, const Packet& packet);
    bool is_in_order(Stream& stream, const Packet& packet);
    void take_section(Stream& stream, const Packet& packet);
    void take_unit(Stream& stream, PesAssembler::Unit unit);
    void emit(Stream& stream, codec::Frame frame);
    bool must_wait(const Stream& stream);
    std::optional<codec::TrackId> free_id(MediaKind kind) const;
    Stream* find(std::uint16_t pid) const;
    std::optional<MediaTime> place(std::optional<std::uint64_t> ticks);

    const Options options_;
    PacketSync sync_;
    Table association_;
    Table map_;
    std::uint16_t program_ = 0;
    std::uint16_t map_pid_ = kNoPid;
    std::optional<ProgramMap> program_map_;
    std::vector<std::unique_ptr<Stream>> streams_;
    TickLine line_;
    MediaTime newest_{};
    std::vector<Unit> units_;
    std::size_t taken_ = 0;
    std::vector<std::vector<std::uint8_t>> sections_;  // scratch; empty between packets
    std::vector<codec::Frame> frames_;                 // scratch; empty between units
    Counters counters_;
    std::size_t held_ = 0;
    std::uint32_t version_ = 0;
    std::uint32_t left_out_ = 0;
};

}  // namespace live::wire::ts
