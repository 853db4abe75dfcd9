// Publishes an FLV file over RTMP with many clients.
#include <memory>

#include "bench/clips/clip_file.hpp"
#include "bench/load/load_run.hpp"
#include "bench/rtmp/rtmp_publish.hpp"

int main(int count, char** arguments) {
    using namespace live::bench;
    FlvClip clip;
    return load_main(Tool::rtmp_publish, count, arguments,
                     [&clip](const LoadOptions& options) -> live::Result<LoadRun::MakeTask> {
                         clip = TRY(load_clip(options.input));
                         return LoadRun::MakeTask([&clip] { return std::make_unique<RtmpPublish>(clip); });
                     });
}
