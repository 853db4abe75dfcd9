// Plays an HLS playlist with many clients.
#include <memory>

#include "bench/http/hls_load.hpp"
#include "bench/load/load_run.hpp"

int main(int count, char** arguments) {
    using namespace live::bench;
    return load_main(Tool::hls_load, count, arguments, [](const LoadOptions&) -> live::Result<LoadRun::MakeTask> {
        return LoadRun::MakeTask([] { return std::make_unique<HlsLoad>(); });
    });
}
