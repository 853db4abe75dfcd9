// Plays a stream over WHEP with many clients, or publishes an FLV file over WHIP.
#include <memory>

#include "bench/clips/clip_file.hpp"
#include "bench/load/load_run.hpp"
#include "bench/rtc/rtc_load.hpp"

int main(int count, char** arguments) {
    using namespace live::bench;
    const auto shared = std::make_unique<RtcShared>();
    return load_main(
        Tool::rtc_load, count, arguments,
        [&shared](const LoadOptions& options) -> live::Result<LoadRun::MakeTask> {
            TRY(shared->make_certificate());
            if (!options.input.empty())
                shared->clip = TRY(make_rtp_clip(TRY(load_clip(options.input))));
            if (options.skip_decryption)
                shared->hub.set_pace(RtcHub::Pace::by_tick);
            return LoadRun::MakeTask([&shared] { return std::make_unique<RtcLoad>(*shared); });
        },
        [&shared](live::io::Deadline deadline) { shared->hub.run(deadline); });
}
