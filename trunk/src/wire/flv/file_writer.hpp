// FileWriter: an FLV file as a recording is written: header, metadata, tags. The metadata has room for what is known at the end
// only (duration, size, where the key frames are, which players need for seeking); finish() says what to write over it. A file
// that was not closed plays all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/byte_writer.hpp"
#include "base/file_patch.hpp"
#include "base/result.hpp"
#include "wire/amf/value.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::wire::flv {

class FileWriter {
public:
    // Key frames in the index. When there are more, every second one leaves it, and so on: their distance doubles.
    static constexpr std::size_t kIndexMax = 512;
    // What "service" says in the metadata.
    static constexpr const char* kServiceKey = "service";

    // `metadata` is an onMetaData message as publishers send it, or empty; one that cannot be read counts as empty. `service`
    // says who recorded it. Appends what the file begins with.
    FileWriter(Bytes metadata, std::string_view service, ByteWriter& out);

    // Goes on with a file that another one has begun, whose first tag has this body, to account for what is in it. bytes() is
    // then where that tag ends; if the file's own does not, the body is none of FileWriter's.
    static FileWriter resumed(Bytes metadata);

    enum class Index : bool { no, yes };
    // Appends a tag. Index::yes for a frame that decoding may start at. Aborts when the body does not fit 24 bits.
    void write(TagType type, std::uint32_t timestamp_ms, Bytes body, Index index, ByteWriter& out);

    // A tag of that many bytes, with what is around its body, is in the file already.
    void account(TagType type, std::uint32_t timestamp_ms, std::uint64_t tag_bytes, Index index);

    // Only `end` bytes of the file could be kept: the index does not lead behind them.
    void forget_behind(std::uint64_t end);
    // What the beginning of the file says now that all is written.
    FilePatch finish() const;

    std::uint64_t bytes() const { return position_; }
    // The greatest time of a tag. Metadata has none.
    std::uint32_t duration_ms() const { return last_ms_; }
    // Tags of audio and video.
    std::uint64_t tags() const { return tags_; }

private:
    explicit FileWriter(amf::Value metadata) : metadata_(std::move(metadata)) {}

    struct KeyFrame {
        std::uint64_t position;
        std::uint32_t ms;
    };

    std::vector<std::uint8_t> beginning() const;
    void add_key_frame(std::uint32_t ms);

    amf::Value metadata_;
    std::vector<KeyFrame> index_;
    std::uint64_t position_ = 0;
    std::uint64_t tags_ = 0;
    std::uint64_t key_frames_ = 0;
    std::uint64_t stride_ = 1;  // of the key frames, how many there are for one in the index
    std::uint32_t last_ms_ = 0;
    std::uint32_t last_key_ms_ = 0;
    bool has_audio_ = false;
    bool has_video_ = false;
};

}  // namespace live::wire::flv
