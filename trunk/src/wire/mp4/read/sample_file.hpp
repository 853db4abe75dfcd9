// SampleFile: a recording that is not fragmented MP4, read as if it were: its tracks, and its samples second by second. The media
// itself is not read.
#pragma once

#include <cstdint>

#include "base/files/whole_part.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "wire/mp4/read/fragment_reader.hpp"

namespace live::wire::mp4 {

class SampleFile {
public:
    // A part of the file's media.
    struct Wanted {
        MediaTime begin{};
        MediaTime end{};
    };

    virtual ~SampleFile() = default;

    // Reads the next part of the information that the whole file or its part before `wanted.end` shares; returns whether that is
    // complete, before which nothing else may be called. Errors of `read` and of malformed files.
    virtual Result<bool> prepare(const Wanted& wanted, const ReadAt& read) = 0;
    // `bytes` is the offset of the first fragment.
    virtual const FragmentedHeader& header() const = 0;
    // Reads about a second of samples from `offset` on, which is that of the first fragment or the end of another. Errors as for
    // FragmentReader::read. Offsets are the file's own; those of samples are places in the file.
    virtual Result<void> read(std::uint64_t offset, const ReadAt& read, Fragment& fragment) = 0;
    // The offset of a later fragment before which nothing is needed for frames from `wanted.begin` on; zero: unknown.
    virtual std::uint64_t late_start() const { return 0; }
    // Frees the memory that makes the next read faster.
    virtual void release() {}
};

}  // namespace live::wire::mp4
