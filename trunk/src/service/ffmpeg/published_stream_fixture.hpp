// A published stream, and programs that stand in for ffmpeg: shell scripts that return their input as their output, which has the
// times of the source then. For tests of services that run a MediaChild for a stream.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "base/files/scratch_folder_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/publication.hpp"
#include "media/source/stream_table.hpp"
#include "session/common/admission.hpp"

namespace live::service::ffmpeg {

class PublishedStreamTest : public testing::Test {
protected:
    static constexpr const char* kCopies = "exec cat >&4";

    PublishedStreamTest() {
        source_ = MUST(streams_.find_or_create("/live/cam", {}, 60'000));
        request_.vhost = "v";
        plan_.vhost = "v";
        request_.app = "live";
        request_.stream = "cam";
        request_.id = "cam-id";
        plan_.url = "/live/cam";
    }

    // Returns the path of the script.
    std::string write_ffmpeg(const std::string& script) {
        const std::string path = folder_.file("ffmpeg");
        std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        return path;
    }
    void append(bool key) {
        const auto head = key ? hex("17 01 000000") : hex("27 01 000000");
        source_->set_arrival(io::now());
        source_->append(media::tag_packet(MediaKind::video, key, false, at_, media::tag_body(head, hex("00000002 6501"))));
        source_->flush();
        at_ += 40ms;
    }
    void append_configs() {
        source_->set_arrival(io::now());
        source_->append(media::tag_packet(MediaKind::video, true, true, at_, media::avc_config_body()));
        source_->append(media::tag_packet(MediaKind::audio, false, true, at_, media::aac_config_body()));
        source_->flush();
    }
    // Publishes until the condition holds.
    template <class Condition>
    void publish_until(Condition&& condition) {
        int count = 0;
        io::wait_until([&] {
            append(count++ % 10 == 0);
            return condition();
        });
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    ScratchFolder folder_;
    media::SlabPool pool_;
    media::StreamTable streams_{pool_};
    Ref<media::Source> source_;
    session::ClientRequest request_;
    session::StreamPlan plan_;
    std::unique_ptr<media::Publication> publication_;
    MediaTime at_ = 5s;
};

}  // namespace live::service::ffmpeg
