// PsReader: reads an MPEG program stream (ISO/IEC 13818-1, 2.5) as cameras and recorders send it, and returns the frames of its
// streams, in the form that containers and sources take. H.264, HEVC; AAC in ADTS and LATM, MPEG audio, G.711.
//
// Devices deviate: maps are missing, repeated with key frames only, have wrong checksums or name other codecs than the bytes
// have; an image is in one PES packet of unknown length, in several, or has one packet for each NAL unit; a stream restarts in
// the middle of a pack. No input is an error: unreadable parts are left out and counted, and reading resumes at the next pack.
// Transport streams are read by wire/ts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/media_kind.hpp"
#include "base/time.hpp"
#include "wire/codec/frame.hpp"
#include "wire/ps/program_map.hpp"
#include "wire/ts/clock.hpp"
#include "wire/ts/read/pes_reader.hpp"

namespace live::wire::ps {

class PsReader {
public:
    // Streams of a program; further ones are left out.
    static constexpr std::size_t kStreamsMax = 4;
    // A PES packet of unknown length, and an image.
    static constexpr std::size_t kUnitBytesMax = ts::PesAssembler::kUnitBytesMax;
    // The bound of all incomplete units together: the one that would exceed it is dropped.
    static constexpr std::size_t kHeldBytesMax = 16U << 20;
    // Audio without a map that begins with no header of a known codec is G.711 after this many packets: A-law, or mu-law if its
    // quiet samples look like it.
    static constexpr unsigned kUnknownAudioMax = 3;
    // Bytes of a G.711 frame; longer packets are split.
    static constexpr std::size_t kG711FrameBytesMax = 4'096;
    // An image is complete at the transport's mark when this many images in a row have ended at one.
    static constexpr unsigned kMarksToTrust = 30;

    struct Unit {
        MediaKind kind = MediaKind::data;
        StreamFormat format = StreamFormat::unknown;
        codec::Frame frame;  // G.711 has no configuration
    };
    struct TrackInfo {
        std::uint8_t id = 0;
        MediaKind kind = MediaKind::data;
        StreamFormat format = StreamFormat::unknown;
        codec::TrackId track{};
    };
    struct Counters {
        std::uint64_t packs = 0;
        std::uint64_t skipped_bytes = 0;  // in search of a pack
        std::uint64_t resyncs = 0;
        std::uint64_t bad_maps = 0;       // wrong checksums or lengths
        std::uint64_t lost_units = 0;     // PES packets and images that were cut or cannot be read
        std::uint64_t skipped_audio = 0;  // bytes between audio frames
        std::uint64_t left_out = 0;       // PES packets of other codecs, and beyond kStreamsMax
    };

    PsReader();
    ~PsReader();
    PsReader(const PsReader&) = delete;
    PsReader& operator=(const PsReader&) = delete;

    // Input of any size; take all units out before the next.
    void feed(Bytes input);
    // The transport has marked the end of an image, after the bytes of the latest feed(). RTP's marker bit; devices also set it
    // elsewhere. Without it, an image is complete when the next one begins.
    void mark();
    // Bytes are missing before the next input. Reading resumes at the next pack.
    void lose();
    // The end of the stream.
    void finish();
    std::optional<Unit> next();

    // version() counts changes of the tracks.
    std::vector<TrackInfo> tracks() const;
    std::uint32_t version() const { return version_; }
    Counters counters() const;
    // Memory of unfinished units.
    std::size_t held_bytes() const;

private:
    class Stream;
    // Result of looking at the front of the input: how many bytes were read, or 0: more are needed.
    using Read = std::size_t;

    Read parse(Bytes input);
    Read resync(Bytes input);
    Read take_one(Bytes input);
    Read take_pack(Bytes input);
    Read take_sized(Bytes input, std::size_t packet_bytes);
    void take_map(Bytes input);
    Read take_unbounded(Bytes input);
    void take_packet(Bytes pes);
    void lose_packet(Bytes pes);
    void take_video(Stream& stream, Bytes pes, const ts::PesStart& start);
    void take_audio(Stream& stream, Bytes payload, std::optional<MediaTime> pts);
    bool settle_audio(Stream& stream, Bytes payload);
    void take_g711(Stream& stream, Bytes payload, std::optional<MediaTime> pts);
    void end_image(Stream& stream);
    void drop(Stream& stream);
    Stream* find_or_add(std::uint8_t id);
    StreamFormat mapped(std::uint8_t id) const;
    void set_format(Stream& stream, StreamFormat format);
    void emit(Stream& stream);
    std::optional<MediaTime> place(std::optional<std::uint64_t> ticks);

    std::vector<std::uint8_t> buffer_;  // not read yet
    std::size_t searched_ = 0;          // of the buffer, in search of the end of a packet of unknown length
    bool synced_ = false;
    std::vector<ProgramMap::Stream> map_;
    bool has_checked_map_ = false;
    std::vector<std::unique_ptr<Stream>> streams_;
    ts::TickLine line_;
    std::vector<Unit> units_;
    std::size_t taken_ = 0;
    std::vector<codec::Frame> frames_;  // scratch; empty between packets
    Counters counters_;
    std::uint32_t version_ = 0;
    unsigned good_marks_ = 0;  // images in a row that ended at a mark
    bool marks_are_useless_ = false;
};

}  // namespace live::wire::ps
