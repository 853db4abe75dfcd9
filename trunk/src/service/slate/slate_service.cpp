#include "service/slate/slate_service.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include <unistd.h>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "service/ffmpeg/arguments.hpp"
#include "service/ffmpeg/find_program.hpp"
#include "service/ingest/demand.hpp"

namespace live::service::slate {

namespace {

// "/app/stream" is of the default virtual host, "vhost/app/stream" of another.
constexpr std::string_view kDefaultVhost = "__defaultVhost__";

session::ClientRequest request_of(const session::StreamPlan& plan) {
    const std::size_t app_at = std::min(plan.url.find('/'), plan.url.size());
    const std::size_t stream_at = std::max(std::min(plan.url.rfind('/'), plan.url.size()), app_at);
    session::ClientRequest request;
    request.id = random_id();
    request.kind = session::ClientKind::engine_publish;
    request.protocol = "slate";
    request.vhost = plan.vhost;
    request.app = stream_at > app_at ? plan.url.substr(app_at + 1, stream_at - app_at - 1) : std::string();
    request.stream = plan.url.substr(std::min(stream_at + 1, plan.url.size()));
    request.tc_url = "rtmp://" + request.vhost + "/" + request.app;
    return request;
}

bool is_relayed(const session::ClientRequest& request) {
    return request.kind == session::ClientKind::relay_pull || request.is_sibling;
}

bool can_run_ffmpeg() {
    const std::string program = ffmpeg::find_program(std::string(ffmpeg::kConventionalProgram));
    if (program.find('/') != std::string::npos)
        return ::access(program.c_str(), X_OK) == 0;
    const char* const path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? std::string_view() : std::string_view(path);
    while (!rest.empty()) {
        const std::string_view folder = rest.substr(0, rest.find(':'));
        if (::access((std::string(folder) + "/" + program).c_str(), X_OK) == 0)
            return true;
        rest = folder.size() < rest.size() ? rest.substr(folder.size() + 1) : std::string_view();
    }
    return false;
}

}  // namespace

SlateService::SlateService(Context context, Log log) : context_(std::move(context)), log_(log), cache_(std::move(log)) {}

Result<void> SlateService::start(io::Scope& fibers, io::Deadline deadline) {
    TRY(fibers.start("slates", [this](io::Deadline forever) { cache_.run(forever); }));
    check_files(deadline);
    return {};
}

void SlateService::apply(io::Deadline deadline) {
    cache_.forget_failures();
    check_files(deadline);
}

// One sentence for each file that players will not see.
void SlateService::check_files(io::Deadline deadline) {
    std::set<std::string> files;
    for (const media::PublishOptions& options : context_.all()) {
        if (options.slate.empty())
            continue;
        files.insert(options.slate);
        if (options.always)
            cache_.request({options.slate, usual_form()});
    }
    if (files.empty())
        return;
    const auto bad = io::off_loop(
        [files] {
            std::vector<std::string> sentences;
            if (!can_run_ffmpeg())
                sentences.emplace_back("there is no ffmpeg to prepare slates: streams end with their publisher");
            for (const std::string& file : files)
                if (::access(file.c_str(), R_OK) != 0)
                    sentences.push_back("the slate " + file + " cannot be read: its streams end with their publisher");
            return sentences;
        },
        deadline);
    if (bad.ok())
        for (const std::string& sentence : *bad)
            LOG_ERROR(log_, "SLATE {}", sentence);
}

StreamSlate* SlateService::find(const std::string& url) const {
    return jobs_.find([&url](const StreamSlate& one) { return one.url() == url; });
}

void SlateService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    if (jobs_.is_stopping())
        return;
    if (is_relayed(request) || plan.publish.slate.empty())
        return on_unpublished(plan.url);
    if (StreamSlate* const known = find(plan.url))
        return known->follow(request, plan);
    if (const auto started = start_slate(request, plan); !started.ok())
        LOG_ERROR(log_, "SLATE {} is not available: {}", plan.url, started.error().sentence());
}

Result<void> SlateService::start_slate(const session::ClientRequest& request, const session::StreamPlan& plan) {
    const Ref<media::Source> source = context_.streams.find(plan.url);
    if (!source)
        return Error(Errc::not_found, "there is no stream " + plan.url);
    if (jobs_.size() >= kStreamsMax)
        return Error(Errc::limit, fmt::format("{} streams with a slate are the limit", kStreamsMax));
    return jobs_.start(SlateContext{cache_, context_.events, totals_, context_.is_one_of_several}, source, request, plan,
                       log_.with_id(request.id));
}

void SlateService::on_unpublished(const std::string& url) {
    jobs_.end_if([&url](const StreamSlate& one) { return one.url() == url; });
    jobs_.reap();
}

bool SlateService::has(const std::string& url) const {
    const std::string vhost = url.starts_with('/') ? std::string(kDefaultVhost) : url.substr(0, url.find('/'));
    const media::PublishOptions* const options = context_.options.find(vhost);
    return options != nullptr && options->always && !options->slate.empty();
}

Result<void> SlateService::fetch(const session::StreamPlan& plan, io::Deadline deadline) {
    const auto source = TRY(context_.streams.find_or_create(plan.url, plan.play, plan.chunk_size));
    if (source->is_published())
        return {};
    const auto limit = deadline.sooner(io::Deadline::after(kFetchLimit));
    auto slate = TRY(cache_.fetch({plan.publish.slate, usual_form()}, limit));
    if (source->is_published())
        return {};
    if (find(plan.url) == nullptr)
        TRY(start_slate(request_of(plan), plan));
    StreamSlate* const shown = find(plan.url);
    if (shown == nullptr)
        return Error(Errc::not_found, "the slate of " + plan.url + " has ended");
    shown->show(std::move(slate));
    ingest::Demand demand;
    return ingest::wait_for_media(source, demand, limit);
}

bool SlateService::is_shown(const std::string& url) const {
    const StreamSlate* const slate = find(url);
    return slate != nullptr && slate->is_shown();
}

void SlateService::write_metrics(MetricsText& text) const {
    std::uint64_t shown = 0;
    jobs_.for_each([&shown](const StreamSlate& one) { shown += one.is_shown() ? 1 : 0; });
    using Type = MetricsText::Type;
    text.family("millrace_slate_streams", Type::gauge, "Streams whose players get the slate, because the publisher is away.")
        .sample(shown);
    text.family("millrace_slate_shows_total", Type::counter, "How often streams have begun to show their slate.")
        .sample(totals_.shows);
    text.family("millrace_slate_prepared", Type::gauge, "Slates in memory, one for each file, codec and size.")
        .sample(std::uint64_t{cache_.size()});
    text.family("millrace_slate_prepared_bytes", Type::gauge, "Memory of the slates.").sample(std::uint64_t{cache_.bytes()});
    text.family("millrace_slate_failures_total", Type::counter, "Slates that ffmpeg could not prepare.")
        .sample(cache_.counters().failures);
}

}  // namespace live::service::slate
