// Follows a live FLV without storing tag bodies (Video File Format 10.1, E.2 and E.3): for load players. wire/flv/flv_file.hpp
// stores the bodies.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::bench {

struct SkippedTag {
    wire::flv::TagHeader header;
    // The first FlvSkipper::kHeadBytes of the body. Valid until the next read().
    Bytes head;
};

class FlvSkipper {
public:
    static constexpr std::size_t kHeadBytes = 64;
    static constexpr std::size_t kFileHeaderBytesMax = 64 << 10;

    // Takes bytes from the front of `input` until a tag is complete or `input` is empty. Call again while it returns tags,
    // including those of unknown types. Errc::malformed when it is not FLV, Errc::unsupported for encrypted tags, Errc::limit;
    // final.
    Result<std::optional<SkippedTag>> read(Bytes& input);

private:
    enum class Stage : std::uint8_t { file_header, skipping, tag_header, body };

    std::size_t fill(Bytes input, std::size_t wanted);
    Result<void> begin_tags();
    Result<void> begin_tag();

    std::array<std::uint8_t, wire::flv::kTagHeaderBytes> held_{};
    std::array<std::uint8_t, kHeadBytes> head_{};
    wire::flv::TagHeader header_;
    std::size_t held_bytes_ = 0;
    std::size_t body_bytes_ = 0;  // bytes of the body read so far
    std::size_t skip_bytes_ = 0;
    Stage stage_ = Stage::file_header;
};

}  // namespace live::bench
