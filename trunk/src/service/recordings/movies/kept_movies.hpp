// KeptMovies: headers of answers, plain MP4 or fragments. Among simultaneous equal requests, one makes the headers and the others
// wait for them; the newest ones are kept for later requests. A key must have everything on which the headers depend.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/files/waiters.hpp"
#include "wire/mp4/read/excerpt_fragments.hpp"

namespace live::service::recordings {

// Everything of an answer that is not in the recordings, and the places of the media.
struct KeptMovie {
    struct Piece {
        std::uint64_t header_bytes = 0;  // before these media
        wire::mp4::FileRange media;
    };
    std::vector<std::uint8_t> header;  // of all pieces
    std::vector<Piece> pieces;

    std::uint64_t bytes() const;
    std::size_t memory_bytes() const;
};

class KeptMovies {
public:
    // Its owners are this list and the answers that are being sent. nullptr: its header is too large.
    using Movie = std::shared_ptr<const KeptMovie>;
    using Make = std::function<Result<Movie>(io::Deadline)>;
    static constexpr std::size_t kMoviesMax = 256;
    static constexpr std::size_t kBytesMax = 4U << 20;
    // Some half an hour of a stream, or twenty minutes in fragments.
    static constexpr std::size_t kHeaderBytesMax = kBytesMax / 4;

    struct Counts {
        std::uint64_t made = 0;
        std::uint64_t shared = 0;  // requests that had one of another request
    };

    // Returns the movie of this key, by `make` if it is not there. When a `make` fails because of its own client
    // (Errc::cancelled, Errc::limit), one of those that wait makes it again. Errors of `make`; Errc::timed_out, Errc::cancelled.
    Result<Movie> find(const std::string& key, const Make& make, io::Deadline deadline);

    std::size_t size() const { return kept_.size(); }
    std::size_t memory_bytes() const { return bytes_; }
    const Counts& counts() const { return counts_; }

private:
    struct Kept {
        std::string key;
        Movie movie;
        std::size_t bytes = 0;
    };
    // Its owners are the fiber that makes the movie and those that wait for it.
    struct Making {
        files::Waiters waiters;
        std::optional<Result<Movie>> made;
    };

    Movie find_kept(const std::string& key);
    static Result<std::optional<Result<Movie>>> wait_for(Making& making, io::Deadline deadline);
    Result<Movie> make_and_keep(const std::string& key, const Make& make, io::Deadline deadline);
    void keep(const std::string& key, const Movie& movie);

    std::list<Kept> kept_;  // the last used first
    std::map<std::string, std::shared_ptr<Making>> making_;
    std::size_t bytes_ = 0;
    Counts counts_;
};

}  // namespace live::service::recordings
