// Keys: encrypts the segments of one stream (RFC 8216, 4.3.2.4), with a new key every few segments. All renditions of a segment
// share one key. Players get keys from memory, like the segments: on disk they come later, or never.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/block.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/hls/files/disk.hpp"
#include "service/hls/files/key_file.hpp"
#include "service/hls/files/names.hpp"
#include "service/hls/options.hpp"
#include "wire/hls/playlist.hpp"

namespace live::service::hls {

class Keys {
public:
    // Referenced objects must outlive this, and the store every key file.
    struct Setup {
        const HlsOptions& options;
        const std::string& stream_url;
        const Names& names;
        Disk& disk;
        segments::Store& store;
        segments::StreamOfFilesRef stream;
    };

    explicit Keys(Setup setup) : setup_(std::move(setup)) {}

    // Call before the segment with that number. Makes a new key every few segments: a random one, or one derived from the secret,
    // which is the same on all nodes with that secret.
    Result<void> begin_segment(std::uint64_t number);
    // Runs in a worker thread: a large segment takes many milliseconds. The wait ends early when the server stops.
    Result<std::vector<Block>> encrypt(std::vector<Block> blocks, io::Deadline deadline) const;
    void reset() {
        key_.reset();
        file_.reset();
    }

    // The key of the next segment.
    const std::optional<wire::hls::Key>& key() const { return key_; }
    const KeyFileRef& file() const { return file_; }

private:
    Result<std::vector<std::uint8_t>> make_key(std::uint64_t first) const;

    const Setup setup_;
    std::optional<wire::hls::Key> key_;
    std::uint64_t first_ = 0;  // number of the first segment with this key
    std::array<std::uint8_t, 16> bytes_{};
    KeyFileRef file_;
};

}  // namespace live::service::hls
