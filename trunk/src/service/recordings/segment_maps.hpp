// SegmentMaps: where the segments of recordings are, for playlists: read in worker threads, and kept for the next playlist. A
// file in progress is read on from where the last playlist has ended.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/threads/worker_pool.hpp"
#include "service/recordings/recording_index.hpp"
#include "wire/mp4/read/segment_map.hpp"

namespace live::service::recordings {

class SegmentMaps {
public:
    // Its owners are this list and the playlists that are being written.
    using Map = std::shared_ptr<const wire::mp4::SegmentMap>;
    static constexpr std::size_t kBytesMax = 8U << 20;
    static constexpr std::size_t kFilesMax = 1'000;
    static constexpr std::size_t kFragmentsPerStep = 1'000;
    static constexpr std::chrono::seconds kStepLimit{30};

    // Errc::not_found, Errc::unsupported: no fragmented file; errors of the disk.
    Result<Map> find(const RecordingFile& file, std::optional<io::Party> party, io::Deadline deadline);
    std::size_t memory_bytes() const { return bytes_; }

private:
    struct Entry {
        std::string path;
        std::uint64_t size = 0;  // of the file, when it was read
        Map map;
    };

    void keep(const RecordingFile& file, const Map& map);
    void remove(std::list<Entry>::iterator entry);

    std::list<Entry> entries_;  // the last used first
    std::size_t bytes_ = 0;
};

}  // namespace live::service::recordings
