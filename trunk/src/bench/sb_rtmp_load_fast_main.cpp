// Plays an RTMP stream with many clients, without looking at the data.
#include <memory>

#include "bench/load/load_run.hpp"
#include "bench/rtmp/rtmp_play.hpp"

int main(int count, char** arguments) {
    using namespace live::bench;
    return load_main(Tool::rtmp_load_fast, count, arguments, [](const LoadOptions&) -> live::Result<LoadRun::MakeTask> {
        return LoadRun::MakeTask([] { return std::make_unique<RtmpPlay>(); });
    });
}
