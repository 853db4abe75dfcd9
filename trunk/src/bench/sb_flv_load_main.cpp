// Plays a live FLV with many clients, over HTTP or WebSocket.
#include <memory>

#include "bench/http/flv_load.hpp"
#include "bench/load/load_run.hpp"

int main(int count, char** arguments) {
    using namespace live::bench;
    return load_main(Tool::flv_load, count, arguments, [](const LoadOptions&) -> live::Result<LoadRun::MakeTask> {
        return LoadRun::MakeTask([] { return std::make_unique<FlvLoad>(); });
    });
}
