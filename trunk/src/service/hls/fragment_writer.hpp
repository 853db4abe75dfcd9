// FragmentWriter: encrypts the fragments of one stream, writes them and the playlists to disk, and reports each written fragment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/hls/files/disk.hpp"
#include "service/hls/files/keys.hpp"
#include "service/hls/files/names.hpp"
#include "service/hls/options.hpp"
#include "service/hls/rendition_set.hpp"
#include "service/segments/segmenter_events.hpp"
#include "session/common/admission.hpp"

namespace live::service::hls {

// A fragment that is complete and written to disk.
struct FragmentEvent {
    const session::ClientRequest& publisher;
    const std::string& vhost;
    const std::string& stream_url;
    MediaTime duration{};
    std::string file;
    std::string uri;  // as in the playlist
    std::string playlist_file;
    std::string playlist_url;
    std::uint64_t number = 0;
};

class HlsEvents {
public:
    virtual ~HlsEvents() = default;
    // Must not suspend.
    virtual void on_fragment(const FragmentEvent& event) = 0;
};

class FragmentWriter {
public:
    // Referenced objects must outlive this.
    struct Setup {
        const HlsOptions& options;
        const StreamName& name;
        const std::string& url;
        Disk& disk;
        HlsEvents& events;
        segments::Store& store;
        segments::StreamOfFilesRef stream;
    };

    // `names` are those of the stream's own playlist.
    FragmentWriter(Setup setup, const Names& names);

    // The publisher of the following fragments.
    void begin_publisher(const session::ClientRequest& publisher);
    const session::ClientRequest& publisher() const { return publisher_; }
    // Encrypts segment `number` with hls_keys. The wait ends early when the server stops.
    Result<void> seal(segments::SegmentMade& made, std::uint64_t number, io::Deadline deadline);
    // nullptr without hls_keys.
    const Keys* keys() const { return keys_ ? &*keys_ : nullptr; }
    void write(Rendition& rendition, const ListedSegment& segment);
    // Writes the master playlist if it has changed.
    void write_master(const std::string& text);
    // The files are disposed of: the next fragment gets a new key.
    void reset();

private:
    const Setup setup_;
    const Names& names_;
    std::optional<Keys> keys_;
    std::string master_;  // as it was written last
    session::ClientRequest publisher_;
};

}  // namespace live::service::hls
