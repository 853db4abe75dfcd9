#include "service/dvr/interrupted_recording.hpp"

#include <utility>

#include "base/files/whole_part.hpp"
#include "io/files/left_file.hpp"
#include "wire/flv/whole_part.hpp"
#include "wire/mp4/whole_part.hpp"

namespace live::service::dvr {

Result<InterruptedRecording> finish_interrupted_recording(const std::string& path) {
    io::LeftFile file = TRY(io::LeftFile::open(path));
    const auto read = [&file](std::uint64_t offset, std::size_t count) { return file.read(offset, count); };
    InterruptedRecording left;
    WholePart part;
    if (file.size() > 0)
        part = TRY(path.ends_with(".flv") ? wire::flv::whole_part(file.size(), read) : wire::mp4::whole_part(file.size(), read));
    if (!part.has_media) {
        TRY(file.remove());
        return left;
    }
    left.duration = part.duration;
    left.bytes = part.bytes;
    left.lost_bytes = file.size() - part.bytes;
    left.path = TRY(file.commit(part.bytes, part.patch));
    return left;
}

}  // namespace live::service::dvr
