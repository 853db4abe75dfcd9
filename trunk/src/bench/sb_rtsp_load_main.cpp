// Plays a stream over RTSP with many clients, over the connection or over UDP.
#include <memory>

#include "bench/load/load_run.hpp"
#include "bench/rtsp/rtsp_load.hpp"

int main(int count, char** arguments) {
    using namespace live::bench;
    return load_main(Tool::rtsp_load, count, arguments, [](const LoadOptions&) -> live::Result<LoadRun::MakeTask> {
        return LoadRun::MakeTask([] { return std::make_unique<RtspLoad>(); });
    });
}
