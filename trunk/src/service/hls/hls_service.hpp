// HlsService: which streams have HLS, and who plays it. Hears of every published stream, gives it a StreamOutput and lets that go
// when it is disposed of; ends the sessions of players that have gone. Never suspends on the publisher's way.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "io/scope.hpp"
#include "media/stream_table.hpp"
#include "service/hls/file_index.hpp"
#include "service/hls/options.hpp"
#include "service/hls/sessions.hpp"
#include "service/hls/stream_output.hpp"
#include "session/common/admission.hpp"

namespace live::service::hls {

class HlsService {
public:
    // Between two looks for sessions that are over.
    static constexpr std::chrono::milliseconds kBeat{500};
    // Of a stop's time, what is left for files that still wait.
    static constexpr std::chrono::milliseconds kStopMargin{100};

    // What is referred to outlives this.
    HlsService(media::StreamTable& streams, Sessions& sessions, HlsEvents& events, Log log);
    ~HlsService();
    HlsService(const HlsService&) = delete;
    HlsService& operator=(const HlsService&) = delete;

    // The options count from the first publisher of a stream until its files are disposed of.
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan, const HlsOptions& options,
                      Zone zone);
    void on_unpublished(const std::string& url);

    // Until cancelled: looks after sessions and what is over.
    void run(io::Deadline deadline);
    // Ends everything: what was begun is made a fragment, and what waits is written as far as the time goes. Errc::timed_out when
    // a fiber does not end.
    Result<void> stop(io::Deadline deadline);

    const FileIndex& index() const { return index_; }
    // Streams with HLS, those that wait to be disposed of included.
    std::size_t size() const { return jobs_.size(); }

private:
    struct Job {
        Job(StreamOutput::Setup setup, Ref<media::Source> source, FileIndex& index, HlsEvents& events, const Log& log)
            : output(std::move(setup), std::move(source), index, events, log) {}

        StreamOutput output;
        io::Scope maker{"hls"};
        io::Scope writer{"hls-files"};
    };

    Job* find(const std::string& url);
    void reap();

    media::StreamTable& streams_;
    Sessions& sessions_;
    HlsEvents& events_;
    Log log_;
    FileIndex index_;
    std::vector<std::unique_ptr<Job>> jobs_;
    bool stopping_ = false;
};

}  // namespace live::service::hls
