// Arbitrary bytes as two recordings, one after the other: excerpts of them as both kinds of file lie within the recordings.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/mp4/read/recorded_files_fixture.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::wire::mp4;
    if (size < 2)
        return 0;
    const auto start = std::chrono::milliseconds(data[0] * 20 - 2'500);
    const FileBytes file(data + 1, data + size);
    const std::vector<std::pair<MediaTime, FileBytes>> files = {{start, file}, {start + 3s, recorded(1)}};
    auto excerpt = excerpt_of(files, 5s);
    if (!excerpt.ok())
        return 0;
    auto movie = counted_movie(std::move(excerpt));
    if (movie.ok()) {
        ByteWriter out;
        while (out.size() < (*movie)->header_bytes())
            if (!(*movie)->read_header(out, 4'096, 100).ok())
                return 0;
        CHECK(out.size() == (*movie)->header_bytes());
        for (const FileRange& range : (*movie)->ranges())
            CHECK(range.offset + range.count <= files[range.file].second.size());
    }
    auto made = ExcerptFragments::create(MUST(excerpt_of(files, 5s)));
    if (!made.ok())
        return 0;
    ExcerptFragments fragments = *std::move(made);
    ByteWriter out;
    fragments.write_init(out);
    std::vector<FileRange> ranges;
    for (auto got = fragments.next(out, ranges); got.ok() && *got; got = fragments.next(out, ranges))
        for (const FileRange& range : ranges)
            CHECK(range.offset + range.count <= files[range.file].second.size());
    return 0;
}
