#include "service/upload/push_service.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/backoff.hpp"
#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/text/variables.hpp"
#include "engine/crypto/running_hash.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "session/http/mime.hpp"
#include "wire/http/status.hpp"
#include "wire/http/target.hpp"

namespace live::service::upload {

namespace {

using Kind = S3Answer::Kind;

Result<std::string> hash_of_blocks(const std::vector<Block>& blocks) {
    auto hash = TRY(engine::crypto::RunningHash::create(engine::crypto::RunningHash::Kind::sha256));
    for (const Block& block : blocks)
        TRY(hash.add(*block));
    return engine::crypto::hex_text(TRY(hash.finish()));
}

// `item` outlives the call.
http_client::HttpCall::LongBody body_of(const PushLine::Item& item) {
    return {item.bytes(), [&item](io::Stream& stream, io::Deadline limit) -> Result<void> {
                std::vector<::iovec> parts;
                for (const Block& block : item.blocks)
                    parts.push_back(io::as_part(*block));
                return stream.write_all(parts, limit);
            }};
}

// Caches may keep segments, which never change.
engine::http1::Headers fields_of(const PushLine::Item& item) {
    engine::http1::Headers headers;
    headers.add("Content-Type", std::string(session::http::mime_of(item.name)));
    if (item.is_list)
        headers.add("Cache-Control", "no-cache");
    return headers;
}

}  // namespace

class PushService::Mirror final : public files::FileMirror {
public:
    explicit Mirror(OutputRef output) : output_(std::move(output)) {}
    ~Mirror() override {
        output_->is_ended = true;
        output_->wake.raise();
    }
    Mirror(const Mirror&) = delete;
    Mirror& operator=(const Mirror&) = delete;

    void write(const std::string& path, const std::vector<Block>& blocks, bool is_list) override {
        output_->line.write(path, blocks, is_list);
        output_->wake.raise();
    }
    void remove(const std::vector<std::string>& paths) override {
        for (const std::string& path : paths)
            output_->line.remove(path);
        output_->wake.raise();
    }

private:
    const OutputRef output_;
};

PushService::PushService(const UploadOptions& options, const http_client::HttpClient& client,
                         CredentialSource::Environment environment, const Log& log)
    : options_(options),
      client_(client),
      log_(log.with_id("UPL")),
      credentials_(options_, client_, std::move(environment)),
      bucket_(options_, client_, credentials_, log_) {}

std::unique_ptr<files::FileMirror> PushService::mirror(const std::string& target, const std::string& folder,
                                                       const files::MirroredStream& stream) {
    auto output = std::make_shared<Output>(target, folder, stream.url);
    Variables variables = time_variables(std::chrono::system_clock::now(), Zone::utc);
    variables.insert(variables.end(), {{"vhost", stream.vhost}, {"app", stream.app}, {"stream", stream.stream}});
    output->prefix = replace_variables(options_.prefix, variables);
    const auto started = fibers_.start("push", [this, output](io::Deadline forever) { run(output, forever); });
    if (!started.ok()) {
        LOG_WARN(log_, "push of {}: {}", stream.url, started.error().sentence());
        return nullptr;
    }
    std::erase_if(outputs_, [](const std::weak_ptr<Output>& known) { return known.expired(); });
    outputs_.push_back(output);
    return std::make_unique<Mirror>(std::move(output));
}

Result<void> PushService::stop(io::Deadline deadline) {
    const auto until = deadline.sooner(io::Deadline::after(kStopLimit));
    static_cast<void>(fibers_.join(until));
    return fibers_.stop(deadline.sooner(io::Deadline::after(kStopLimit * 2)));
}

void PushService::run(const OutputRef& output, io::Deadline deadline) {
    std::optional<io::Deadline> end;
    for (;;) {
        while (const auto item = output->line.take()) {
            if (output->is_ended && !end)
                end = io::Deadline::after(kEndLimit);
            if ((end && end->expired()) || !push(*output, *item, deadline).ok())
                return;
        }
        if (output->is_ended || !io::wait(output->wake, deadline).ok())
            return;
    }
}

Result<void> PushService::push(Output& output, const PushLine::Item& item, io::Deadline deadline) {
    Backoff pauses(kRetryFirst, kRetryGreatest);
    std::optional<io::Deadline> end;
    while (!output.line.is_obsolete(item) && !(end && end->expired())) {
        if (output.is_ended && !end)
            end = io::Deadline::after(kEndLimit);
        const S3Answer answer = output.target == kBucket ? send(output, item, deadline) : send_plainly(output, item, deadline);
        if (answer.kind == Kind::ended)
            return Error(Errc::cancelled, "the server stops");
        note(output, answer);
        // A file to be removed may have been left out before.
        if (answer.kind == Kind::ok || (item.is_removal && answer.kind == Kind::not_found)) {
            totals_.sent_files += item.is_removal ? 0 : 1;
            totals_.removed_files += item.is_removal ? 1 : 0;
            totals_.sent_bytes += item.bytes();
            return {};
        }
        const auto pause = pauses.next(static_cast<std::uint32_t>(random_number()));
        const auto waited = io::sleep(io::Deadline::after(pause));
        if (!waited.ok() && waited.code() == Errc::cancelled)
            return waited;
    }
    return {};
}

S3Answer PushService::send(const Output& output, const PushLine::Item& item, io::Deadline deadline) {
    S3Call call;
    call.method = item.is_removal ? "DELETE" : "PUT";
    call.key = output.prefix + item.name;
    if (!item.is_removal) {
        // Megabytes of hashing would hold the loop.
        auto hash = io::off_loop([blocks = item.blocks] { return hash_of_blocks(blocks); }, deadline, io::Work::compute);
        if (!hash.ok())
            return {hash.code() == Errc::cancelled ? Kind::ended : Kind::refused, {}, hash.error().sentence(), {}};
        call.payload_hash = *std::move(hash);
        call.headers = fields_of(item);
        call.long_body = body_of(item);
    }
    return bucket_.call(call, deadline.sooner(io::Deadline::after(kCallLimit)));
}

S3Answer PushService::send_plainly(const Output& output, const PushLine::Item& item, io::Deadline deadline) {
    http_client::HttpCall call;
    call.method = item.is_removal ? "DELETE" : "PUT";
    call.url = output.target + (output.target.ends_with('/') ? "" : "/") + wire::http::percent_encode_path(item.name);
    call.rest = http_client::HttpCall::Rest::left;
    if (!item.is_removal) {
        call.headers = fields_of(item);
        call.long_body = body_of(item);
    }
    const auto answer = client_.call(call, deadline.sooner(io::Deadline::after(kCallLimit)));
    if (!answer.ok())
        return {answer.code() == Errc::cancelled ? Kind::ended : Kind::trouble, {}, answer.error().sentence(), {}};
    if (answer->status / 100 == 2)
        return {};
    const bool is_gone = answer->status == wire::http::Status::not_found;
    return {is_gone ? Kind::not_found : Kind::refused, {}, "status " + std::to_string(answer->status), {}};
}

void PushService::note(Output& output, const S3Answer& answer) {
    if (const std::uint64_t left_out = output.line.left_out(); left_out > output.left_out) {
        LOG_WARN(log_, "push of {}: {} files are left out, because the server is too slow", output.url,
                 left_out - output.left_out);
        totals_.left_out += left_out - output.left_out;
        output.left_out = left_out;
    }
    if (answer.kind == Kind::ok || answer.kind == Kind::not_found) {
        if (!output.error.empty())
            LOG_INFO(log_, "push of {}: resumed", output.url);
        output.error.clear();
        return;
    }
    ++totals_.failures;
    if (output.error != answer.reason)
        LOG_WARN(log_, "push of {} to {}: {}", output.url, output.target == kBucket ? bucket_.label() : output.target,
                 answer.reason);
    output.error = answer.reason;
}

void PushService::write_metrics(MetricsText& text) const {
    if (outputs_.empty())
        return;
    using Type = MetricsText::Type;
    std::uint64_t files = 0, bytes = 0;
    for (const std::weak_ptr<Output>& known : outputs_)
        if (const auto output = known.lock()) {
            files += output->line.size();
            bytes += output->line.bytes();
        }
    text.family("millrace_push_backlog_files", Type::gauge, "Files of live streams that wait to be pushed.").sample(files);
    text.family("millrace_push_backlog_bytes", Type::gauge, "Bytes of live streams that wait to be pushed.").sample(bytes);
    text.family("millrace_pushed_files_total", Type::counter, "Files of live streams that were pushed.")
        .sample(totals_.sent_files);
    text.family("millrace_pushed_bytes_total", Type::counter, "Bytes of live streams that were pushed.")
        .sample(totals_.sent_bytes);
    text.family("millrace_push_removed_files_total", Type::counter,
                "Files of live streams that were removed where they were pushed to.")
        .sample(totals_.removed_files);
    text.family("millrace_push_left_out_files_total", Type::counter,
                "Files of live streams that were left out, because the server was too slow.")
        .sample(totals_.left_out);
    text.family("millrace_push_failures_total", Type::counter, "Requests of pushes that failed.").sample(totals_.failures);
}

}  // namespace live::service::upload
