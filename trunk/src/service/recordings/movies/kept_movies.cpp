#include "service/recordings/movies/kept_movies.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "io/fibers/loop.hpp"

namespace live::service::recordings {

namespace {

// Whether others may succeed where this request has failed.
bool is_of_one_client(const Error& error) { return error.code() == Errc::cancelled || error.code() == Errc::limit; }

}  // namespace

std::uint64_t KeptMovie::bytes() const {
    std::uint64_t all = header.size();
    for (const Piece& piece : pieces)
        all += piece.media.count;
    return all;
}

std::size_t KeptMovie::memory_bytes() const { return sizeof *this + header.capacity() + pieces.capacity() * sizeof(Piece); }

Result<KeptMovies::Movie> KeptMovies::find(const std::string& key, const Make& make, io::Deadline deadline) {
    for (;;) {
        if (Movie movie = find_kept(key)) {
            ++counts_.shared;
            return movie;
        }
        const auto found = making_.find(key);
        if (found == making_.end())
            return make_and_keep(key, make, deadline);
        const std::shared_ptr<Making> making = found->second;
        if (const auto made = TRY(wait_for(*making, deadline))) {
            counts_.shared += made->ok() && **made != nullptr ? 1 : 0;
            return *made;
        }
    }
}

KeptMovies::Movie KeptMovies::find_kept(const std::string& key) {
    const auto found = std::ranges::find(kept_, key, &Kept::key);
    if (found == kept_.end())
        return nullptr;
    kept_.splice(kept_.begin(), kept_, found);
    return kept_.front().movie;
}

// Returns nothing if the request that made it has failed by itself.
Result<std::optional<Result<KeptMovies::Movie>>> KeptMovies::wait_for(Making& making, io::Deadline deadline) {
    Signal done;
    making.waiters.add(done);
    const auto waited = io::wait(done, deadline);
    making.waiters.remove(done);
    TRY(waited);
    return making.made;
}

Result<KeptMovies::Movie> KeptMovies::make_and_keep(const std::string& key, const Make& make, io::Deadline deadline) {
    // The other owners are the requests that wait.
    const auto making = std::make_shared<Making>();
    making_.emplace(key, making);
    auto made = make(deadline);
    making_.erase(key);
    if (made.ok() && *made != nullptr) {
        ++counts_.made;
        keep(key, *made);
    }
    if (made.ok() || !is_of_one_client(made.error()))
        making->made = made;
    making->waiters.raise();
    return made;
}

void KeptMovies::keep(const std::string& key, const Movie& movie) {
    const std::size_t bytes = sizeof(Kept) + key.capacity() + movie->memory_bytes();
    if (bytes > kBytesMax)
        return;
    kept_.push_front({key, movie, bytes});
    bytes_ += bytes;
    while (bytes_ > kBytesMax || kept_.size() > kMoviesMax) {
        bytes_ -= kept_.back().bytes;
        kept_.pop_back();
    }
}

}  // namespace live::service::recordings
