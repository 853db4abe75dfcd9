// Keys: encrypts the segments of one stream (RFC 8216, 4.3.2.4), with another key each few of them. All renditions of a segment
// have the same key.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/block.hpp"
#include "base/result.hpp"
#include "io/deadline.hpp"
#include "service/hls/disk.hpp"
#include "service/hls/names.hpp"
#include "service/hls/options.hpp"
#include "wire/hls/playlist.hpp"

namespace live::service::hls {

class Keys {
public:
    // What is referred to outlives this.
    Keys(const HlsOptions& options, const Names& names, Disk& disk) : options_(options), names_(names), disk_(disk) {}

    // The segment with that number comes next: makes its key, if it has one of its own.
    void begin_segment(std::uint64_t number);
    // In a worker thread: a large segment takes many milliseconds. When the server stops, nobody waits for one.
    Result<std::vector<Block>> encrypt(std::vector<Block> blocks, io::Deadline deadline) const;
    void reset() { key_.reset(); }

    // Of the segment that comes next.
    const std::optional<wire::hls::Key>& key() const { return key_; }
    const std::string& file() const { return file_; }

private:
    const HlsOptions& options_;
    const Names& names_;
    Disk& disk_;
    std::optional<wire::hls::Key> key_;
    std::array<std::uint8_t, 16> bytes_{};
    std::string file_;
};

}  // namespace live::service::hls
