// AAC in LATM (ISO/IEC 14496-3, 1.7): the other form of AAC in transport streams, there with LOAS sync, and in RTP (RFC 3016). As
// broadcasts use it: one program, one layer, one or several frames to an element, frames of their own length.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/audio/aac.hpp"
#include "wire/codec/bit_reader.hpp"

namespace live::wire::codec {

class LatmReader {
public:
    static constexpr std::size_t kElementBytesMax = 3 + 0x1FFF;  // with its sync word and length

    // Takes the next element and appends its raw AAC frames. Before an error nothing is taken: Errc::need_more when it is cut,
    // Errc::malformed without a sync word. After one in its contents it has been taken: Errc::malformed, Errc::unsupported,
    // Errc::not_found before the first configuration.
    Result<void> read(ByteReader& in, std::vector<Slice>& frames);

    // The contents of an element without its sync word, all of `element`. The same errors.
    Result<void> read_element(Bytes element, std::vector<Slice>& frames);
    // Elements without configurations in them, where a description has the StreamMuxConfig.
    Result<void> set_config(Bytes stream_mux_config);
    Result<void> read_payloads(Bytes element, std::vector<Slice>& frames) const;

    // The newest AudioSpecificConfig; empty before the first.
    const std::vector<std::uint8_t>& config() const { return config_; }
    const AudioSpecificConfig& parsed() const { return parsed_; }

private:
    Result<void> read_payloads(BitReader& in, Bytes element, std::vector<Slice>& frames) const;
    Result<void> read_mux_config(BitReader& in, Bytes element);
    Result<void> read_audio_config(BitReader& in, Bytes element, std::size_t bits);

    std::vector<std::uint8_t> config_;
    AudioSpecificConfig parsed_;
    unsigned subframes_ = 1;
};

}  // namespace live::wire::codec
