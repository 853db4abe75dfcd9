// FileWriter: writes a recording as an FLV file: header, metadata, tags. The metadata reserves space for values known only at the
// end (duration, size, the key frame index that players need for seeking, and the places of configurations, so that a reader
// needs not look for them); finish() returns the patch for it. A file that was never closed still plays.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/files/file_patch.hpp"
#include "base/result.hpp"
#include "wire/amf/value.hpp"
#include "wire/flv/codec.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::wire::flv {

// The index in the metadata of a closed file.
struct FileIndex {
    struct KeyFrame {
        std::uint64_t position = 0;
        std::uint32_t ms = 0;
    };
    std::vector<KeyFrame> key_frames;    // not all
    std::vector<std::uint64_t> formats;  // of all configurations, and of the first frame of each codec and track
};

// `metadata` is the body of the first tag of a file of this size. Returns nothing if the index is not complete, or is that of a
// file of another size. The tags must be checked: the file may have been changed.
std::optional<FileIndex> read_file_index(Bytes metadata, std::uint64_t file_bytes);

class FileWriter {
public:
    // Maximum number of key frames in the index. When it is full, every second entry is removed and the spacing doubles.
    static constexpr std::size_t kIndexMax = 512;
    // Maximum number of configurations in the index. With more, it is marked as incomplete.
    static constexpr std::size_t kFormatsMax = 32;
    // Enough of a tag's body to identify its codec, track and content.
    static constexpr std::size_t kBodyHeadBytes = 40;
    // Metadata key for the name of the recording service.
    static constexpr const char* kServiceKey = "service";

    // `metadata` is an onMetaData message as publishers send it, or empty; unreadable metadata is treated as empty. `service`
    // names the recording server. Appends the start of the file.
    FileWriter(Bytes metadata, std::string_view service, ByteWriter& out);

    // Returns a writer that continues a file begun by another FileWriter. `metadata` is the body of the file's first tag; pass
    // the other tags to account(). bytes() is the end of the first tag; if it differs from that tag's end in the file, no
    // FileWriter wrote the file.
    static FileWriter resumed(Bytes metadata);

    enum class Index : bool { no, yes };
    // Appends a tag. Index::yes for a frame at which decoding may start. `body_header` is written before `body`, for a body
    // that contains only a frame. Aborts if their total size does not fit into 24 bits.
    void write(TagType type, std::uint32_t timestamp_ms, Bytes body, Index index, ByteWriter& out, Bytes body_header = {});

    // Accounts for a tag already in the file; `tag_bytes` includes the header and size field. `body`: at least its first
    // kBodyHeadBytes.
    void account(TagType type, std::uint32_t timestamp_ms, std::uint64_t tag_bytes, Index index, Bytes body);

    // Removes the index entries from byte `end` on, where the file was truncated.
    void forget_behind(std::uint64_t end);
    // Returns the final start of the file; call it after all tags are written.
    FilePatch finish() const;

    std::uint64_t bytes() const { return position_; }
    // The largest tag timestamp. Metadata has none.
    std::uint32_t duration_ms() const { return last_ms_; }
    // Number of audio and video tags.
    std::uint64_t tags() const { return tags_; }

private:
    explicit FileWriter(amf::Value metadata) : metadata_(std::move(metadata)) {}

    // A codec of a track, and its newest configuration.
    struct Format {
        TagType type;
        Codec codec;
        int track;
        std::uint64_t config = 0;  // a hash
    };

    std::vector<std::uint8_t> beginning() const;
    void add_key_frame(std::uint32_t ms);
    void note_format(TagType type, Bytes body, bool is_whole);

    amf::Value metadata_;
    std::vector<FileIndex::KeyFrame> index_;
    std::vector<Format> formats_;
    std::vector<std::uint64_t> format_positions_;
    bool has_all_formats_ = true;
    std::uint64_t position_ = 0;
    std::uint64_t tags_ = 0;
    std::uint64_t key_frames_ = 0;
    std::uint64_t stride_ = 1;  // key frames per index entry
    std::uint32_t last_ms_ = 0;
    std::uint32_t last_key_ms_ = 0;
    bool has_audio_ = false;
    bool has_video_ = false;
};

}  // namespace live::wire::flv
