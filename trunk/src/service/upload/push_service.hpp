// PushService: copies the files of live HLS and DASH to a bucket or to a server that takes PUT and DELETE, as they are made. One
// fiber for each output sends its PushLine in order and tries again until it succeeds, or until what it sends is obsolete.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/fibers/scope.hpp"
#include "service/files/file_mirror.hpp"
#include "service/http_client/http_client.hpp"
#include "service/service.hpp"
#include "service/upload/credentials.hpp"
#include "service/upload/options.hpp"
#include "service/upload/push_line.hpp"
#include "service/upload/s3_client.hpp"

namespace live::service::upload {

class PushService final : public Service, public files::FileMirrors {
public:
    static constexpr std::string_view kBucket = "s3";
    static constexpr std::chrono::milliseconds kRetryFirst{250};
    static constexpr std::chrono::milliseconds kRetryGreatest{10'000};
    static constexpr std::chrono::seconds kCallLimit{30};
    // For what waits when the output has ended, and when the server stops.
    static constexpr std::chrono::seconds kEndLimit{30};
    static constexpr std::chrono::seconds kStopLimit{5};

    // `client` outlives this.
    PushService(const UploadOptions& options, const http_client::HttpClient& client, CredentialSource::Environment environment,
                const Log& log);
    PushService(const PushService&) = delete;
    PushService& operator=(const PushService&) = delete;

    std::unique_ptr<files::FileMirror> mirror(const std::string& target, const std::string& folder,
                                              const files::MirroredStream& stream) override;
    Result<void> stop(io::Deadline deadline) override;
    std::string_view name() const override { return "the pushes of files"; }
    void write_metrics(MetricsText& text) const override;

private:
    // The files of one output. Its owners: the mirror, and the fiber, which lasts longer.
    struct Output {
        Output(std::string where, const std::string& folder, std::string stream)
            : target(std::move(where)), url(std::move(stream)), line(folder) {}
        const std::string target;
        std::string prefix;  // of objects
        const std::string url;
        PushLine line;
        Signal wake;
        bool is_ended = false;
        std::string error;
        std::uint64_t left_out = 0;  // as reported
    };
    using OutputRef = std::shared_ptr<Output>;
    class Mirror;

    void run(const OutputRef& output, io::Deadline deadline);
    Result<void> push(Output& output, const PushLine::Item& item, io::Deadline deadline);
    S3Answer send(const Output& output, const PushLine::Item& item, io::Deadline deadline);
    S3Answer send_plainly(const Output& output, const PushLine::Item& item, io::Deadline deadline);
    void note(Output& output, const S3Answer& answer);

    const UploadOptions options_;
    const http_client::HttpClient& client_;
    Log log_;
    CredentialSource credentials_;
    S3Client bucket_;
    std::vector<std::weak_ptr<Output>> outputs_;
    struct Totals {
        std::uint64_t sent_files = 0;
        std::uint64_t sent_bytes = 0;
        std::uint64_t removed_files = 0;
        std::uint64_t left_out = 0;
        std::uint64_t failures = 0;
    };
    Totals totals_;
    io::Scope fibers_{"push"};
};

}  // namespace live::service::upload
