// FlvSamples: the samples of an FLV recording. Each tag is found by the one before it; of a frame only the tag's head is read.
// Configurations are collected first, up to the end of the span that is asked for: by the index in the file's metadata, or from
// tag to tag.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wire/codec/frame.hpp"
#include "wire/flv/file_writer.hpp"
#include "wire/mp4/read/sample_file.hpp"
#include "wire/mp4/sample_reader.hpp"

namespace live::wire::mp4 {

class FlvSamples final : public SampleFile {
public:
    // Further configurations end the file.
    static constexpr std::size_t kFormatsMax = 64;
    // The length of a fragment, as in recordings of fragmented MP4: one ends at a key frame, after a second where no frame that
    // is shown earlier follows, and after two seconds anywhere.
    static constexpr MediaTime kFragment = std::chrono::seconds(1);
    static constexpr MediaTime kFragmentMax = std::chrono::seconds(2);
    static constexpr std::size_t kTagsPerFragment = 4'096;
    // Tags are read in blocks. They grow while each has several tags, so that the media of large ones is not read.
    static constexpr std::size_t kBlockBytesMin = 2 << 10;
    static constexpr std::size_t kBlockBytesMax = 64 << 10;
    static constexpr std::size_t kTagsPerBlock = 4;
    // Limit of one prepare(), which reads one block at most.
    static constexpr std::size_t kTagsPerCall = 64;
    // No frame is shown so long after it is decoded.
    static constexpr MediaTime kReorderMax = std::chrono::seconds(10);

    explicit FlvSamples(std::uint64_t size) : size_(size) {}

    Result<bool> prepare(const Wanted& wanted, const ReadAt& read) override;
    const FragmentedHeader& header() const override { return header_; }
    Result<void> read(std::uint64_t offset, const ReadAt& read, Fragment& fragment) override;
    std::uint64_t late_start() const override;
    void release() override { block_ = {}; }

private:
    struct Tag {
        std::uint64_t bytes = 0;  // with the size after it
        std::optional<MediaKind> kind;
        bool is_script = false;
        codec::Frame frame;          // its data is the beginning of the body
        std::uint64_t media_at = 0;  // the body, in the file
        std::uint32_t media_bytes = 0;
    };
    // The frames of a track from one tag on have this format.
    struct Format {
        std::uint64_t offset = 0;
        std::size_t track = 0;
        std::uint32_t entry = 0;         // of the track's sample entries
        std::uint32_t sample_ticks = 0;  // on the clock of the track
        codec::Codec codec = codec::Codec::none;
    };
    // A track whose configurations are collected.
    struct Collected {
        MediaKind kind;
        codec::TrackId id;
        SampleReader reader;
        std::uint32_t version = 0;
        std::optional<std::size_t> track;  // of the header
    };

    // A piece of the file, and how many tags were found in it.
    struct Block {
        std::uint64_t at = 0;
        std::vector<std::uint8_t> bytes;
        std::size_t size = kBlockBytesMin;
        std::size_t tags = 0;
    };

    bool is_in_block(std::uint64_t offset) const;
    Result<Bytes> head_at(std::uint64_t offset, const ReadAt& read);
    Result<Tag> tag_at(std::uint64_t offset, const ReadAt& read);
    Result<bool> prepare_by_index(const Wanted& wanted, const ReadAt& read);
    Result<bool> collect_by_index(const flv::FileIndex& index, const Wanted& wanted, const ReadAt& read);
    Result<std::optional<flv::FileIndex>> read_index(const ReadAt& read);
    void finish_prepare();
    Result<bool> prepare_tag(const Wanted& wanted, const ReadAt& read);
    Result<void> collect(Tag tag, const ReadAt& read);
    Collected* collected_of(const Tag& tag);
    void note_format(Collected& from, const TrackFormat& format, codec::Codec codec);
    const Format* format_of(const Tag& tag, std::uint64_t offset) const;
    bool has_format_at(std::uint64_t offset) const;
    void push(const Tag& tag, const Format& format, Fragment& fragment) const;

    std::uint64_t size_;
    FragmentedHeader header_;
    std::vector<Collected> collected_;
    std::vector<Format> formats_;   // by offset
    std::uint64_t at_ = 0;          // the tag that prepare() reads next
    std::uint64_t late_start_ = 0;  // the newest key frame that is decoded kReorderMax before the wanted part
    Block block_;
};

}  // namespace live::wire::mp4
