// For tests of HlsService: a service with a stream in a scratch folder, and a publisher whose speed the test controls.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "base/options_of_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/publication.hpp"
#include "service/files/session_fixture.hpp"
#include "service/hls/hls_service.hpp"
#include "service/segments/segmenter_fixture.hpp"
#include "wire/hls/playlist_reader.hpp"

namespace live::service::hls {

using files::Door;
using files::RecordedEvents;
using segments::aac_config;
using segments::av1_config;
using segments::av1_frame;
using segments::avc_config;
using segments::config_packet;
using segments::picture;

class Fragments final : public HlsEvents {
public:
    void on_fragment(const FragmentEvent& event) override { numbers.push_back(event.number); }
    std::vector<std::uint64_t> numbers;  // on disk
};

class Errors final : public LogSink {
public:
    LogLevel level() const override { return LogLevel::warn; }
    void write(LogLevel level, std::string_view, std::string_view text, int) override {
        if (level == LogLevel::error)
            errors.emplace_back(text);
        else
            warnings.emplace_back(text);
    }
    std::vector<std::string> errors;
    std::vector<std::string> warnings;
};

class HlsServiceTest : public testing::Test {
protected:
    static constexpr auto kSoon = io::kSoon;

    void SetUp() override {
        source_ = MUST(streams_.find_or_create("/live/cam", {}, 60'000));
        request_.app = "live";
        request_.stream = "cam";
        plan_.url = "/live/cam";
        options_.enabled = true;
        options_.fragment = 1s;
        options_.window = 3s;
        options_.path = folder_.file("");
        start();
    }
    void TearDown() override { stop(); }

    void start() {
        const HlsService::Parts parts{streams_, same_options_, sessions_, fragments_, claims_, Zone::utc};
        service_ = std::make_unique<HlsService>(parts, Log(errors_, ""));
    }
    void stop() { MUST(service_->stop(io::Deadline::after(kSoon))); }
    // A killed server leaves only the playlist and the files.
    void restart() {
        unpublish();
        stop();
        start();
    }
    void publish() {
        publication_ = MUST(media::Publication::start(source_, media::Takeover::refuse));
        request_.id = std::to_string(++publishers_);
        service_->on_published(request_, plan_);
        source_->append(config_packet(MediaKind::video, is_av1_ ? av1_config() : avc_config(), at_));
    }
    void unpublish() {
        publication_.reset();
        service_->on_unpublished(plan_.url);
    }
    // Publishes 25 frames per second, a key frame each second.
    void seconds(int count) {
        for (int i = 0; i < 25 * count && publication_->is_current(); ++i, at_ += 40ms) {
            const bool key = at_ % 1s == MediaTime();
            source_->append(media::tag_packet(MediaKind::video, key, false, at_, is_av1_ ? av1_frame(key) : picture(key)));
            source_->flush();
            if (i % 5 == 4)
                static_cast<void>(io::yield(io::Deadline::never()));
        }
    }
    void wait_written(std::uint64_t number) {
        io::wait_until([&] { return std::ranges::count(fragments_.numbers, number) > 0; });
    }
    bool is_on_disk(const std::string& name) const { return std::filesystem::exists(folder_.file(name)); }
    wire::hls::MediaPlaylist on_disk() const { return MUST(wire::hls::parse_media_playlist(folder_.read("live/cam.m3u8"))); }
    StreamOutput* output() const {
        const auto* file =
            service_->index().find(std::filesystem::path(folder_.file("live/cam.m3u8")).lexically_normal().string());
        return file == nullptr ? nullptr : file->output;
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    ScratchFolder folder_;
    Errors errors_;
    Door door_;
    RecordedEvents stream_events_;
    session::ClientTable clients_;
    Log log_;
    session::ConnectionLimits places_{10, log_};
    Sessions sessions_{door_, stream_events_, clients_, places_};
    media::SlabPool pool_;
    media::StreamTable streams_{pool_};
    Ref<media::Source> source_;
    std::unique_ptr<media::Publication> publication_;
    Fragments fragments_;
    files::PathClaims claims_;
    std::unique_ptr<HlsService> service_;
    session::ClientRequest request_;
    session::StreamPlan plan_;
    HlsOptions options_;
    const SameOptions<HlsOptions> same_options_{options_};
    MediaTime at_ = 10s;
    bool is_av1_ = false;
    int publishers_ = 0;
};

}  // namespace live::service::hls
