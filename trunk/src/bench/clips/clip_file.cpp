#include "bench/clips/clip_file.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

namespace live::bench {

Result<FlvClip> load_clip(const std::string& name) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "re"), &std::fclose);
    if (file == nullptr)
        return system_error("opening " + name, errno);
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint8_t> block(std::size_t{1} << 20);
    for (std::size_t count = 1; count > 0;
         bytes.insert(bytes.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count))) {
        count = std::fread(block.data(), 1, block.size(), file.get());
        if (bytes.size() + count > FlvClip::kFileBytesMax)
            return Error(Errc::limit, name + " is larger than " + std::to_string(FlvClip::kFileBytesMax) + " bytes");
    }
    if (std::ferror(file.get()) != 0)
        return system_error("reading " + name, errno);
    auto clip = parse_clip(bytes);
    return clip.ok() ? std::move(clip) : Result<FlvClip>(Error(clip.error()).during(name));
}

}  // namespace live::bench
