#include "service/engines/engine_service.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::engines {

namespace {

constexpr std::array<const char*, kRestartReasons> kReasons = {"exited", "silent", "refused", "new_format", "missing"};

bool is_relayed(const session::ClientRequest& request) {
    return request.kind == session::ClientKind::relay_pull || request.is_sibling;
}

}  // namespace

EngineService::EngineService(const OptionsOf<std::vector<TranscodeOptions>>& options, Context context, Log log,
                             EngineTiming timing)
    : options_(options),
      context_(std::move(context)),
      log_(std::move(log)),
      timing_(timing),
      began_(io::now()),
      reported_(began_) {}

void EngineService::Totals::add(const EngineJob& job) {
    starts += job.state().starts;
    dropped += job.state().dropped_packets + (job.child() == nullptr ? 0 : job.child()->dropped_packets);
    for (std::size_t i = 0; i < kRestartReasons; ++i)
        restarts[i] += job.state().restarts[i];
}

std::vector<Engine> EngineService::wanted_for(const Published& published) const {
    const auto* const blocks = options_.find(published.vhost);
    if (blocks == nullptr)
        return {};
    return engines_of(*blocks, published.input.app, published.input.stream, published.origin);
}

void EngineService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    if (jobs_.is_stopping() || is_relayed(request))
        return;
    on_unpublished(plan.url);  // of a publisher that this one replaces
    bool is_made = request.kind == session::ClientKind::engine_publish || request.param.find(kEngineMark) != std::string::npos;
    jobs_.for_each([&](const EngineJob& job) { is_made = is_made || (!job.setup().hidden && job.setup().own_url == plan.url); });
    Published& published = published_[plan.url];
    published = {request.vhost,
                 {plan.vhost, request.app, request.stream, request.param},
                 is_made ? Origin::engine : Origin::client,
                 log_.with_id(request.id)};
    start_missing(plan.url, published);
}

void EngineService::start_missing(const std::string& url, const Published& published) {
    for (const Engine& engine : wanted_for(published)) {
        const auto is_running = [&](const EngineJob& job) { return job.url() == url && job.setup().engine == engine; };
        if (jobs_.find(is_running) == nullptr)
            start_engine(url, published, engine);
    }
}

void EngineService::start_engine(const std::string& url, const Published& published, const Engine& engine) {
    const std::string label = published.input.label() + "/" + engine.options.name;
    const auto source = context_.publish.streams.find(url);
    if (!source)
        return;
    const Place place = context_.place();
    const auto command = build_command(engine, published.input, place, std::chrono::system_clock::now());
    if (!command.ok()) {
        LOG_ERROR(published.log, "ENC {} does not start: {}", label, command.error().sentence());
        return;
    }
    const std::string own_url = command->own ? context_.url_of(*command->own) : std::string();
    if (own_url == url) {
        LOG_ERROR(published.log, "ENC {} does not start: its output is its own input", label);
        return;
    }
    if (jobs_.size() >= kEnginesMax) {
        LOG_ERROR(published.log, "ENC {} does not start: {} engines are the limit", label, kEnginesMax);
        return;
    }
    EngineJob::Setup setup{source, engine, published.input, place, own_url, limits_.of(label, io::now())};
    if (engine.on_demand && !own_url.empty())
        // Owners: this, the job and waiting clients.
        setup.demand = demands_[own_url] = std::make_shared<ingest::Demand>();
    else if (engine.on_demand)
        LOG_WARN(published.log, "ENC {} runs always: on_demand needs an output that is a stream of this server", label);
    const auto started = jobs_.start(std::move(setup), timing_, context_.publish, published.log);
    if (!started.ok())
        LOG_ERROR(published.log, "ENC {} cannot start: {}", label, started.error().text());
}

void EngineService::end_if(const std::function<bool(const EngineJob&)>& is_it) {
    jobs_.end_if([&](const EngineJob& job) {
        if (!is_it(job))
            return false;
        ended_.add(job);
        return true;
    });
    jobs_.reap();
    forget_demands();
}

void EngineService::forget_demands() {
    std::erase_if(demands_, [this](const auto& one) {
        const auto has_it = [&one](const EngineJob& job) { return job.setup().demand == one.second; };
        if (jobs_.find(has_it) != nullptr)
            return false;
        one.second->note_failure("its input has ended");
        return true;
    });
}

Result<void> EngineService::fetch(const session::StreamPlan& plan, io::Deadline deadline) {
    const auto found = demands_.find(plan.url);
    if (found == demands_.end())
        return Error(Errc::not_found, "there is no stream " + plan.url);
    const std::shared_ptr<ingest::Demand> demand = found->second;
    const auto source = TRY(context_.publish.streams.find_or_create(plan.url, plan.play, plan.chunk_size));
    return ingest::wait_for_media(source, *demand, deadline.sooner(io::Deadline::after(kFetchLimit)));
}

void EngineService::on_unpublished(const std::string& url) {
    published_.erase(url);
    end_if([&url](const EngineJob& job) { return job.url() == url && !job.setup().hidden; });
}

// Engines that a reload has not changed continue.
void EngineService::apply(io::Deadline) {
    end_if([this](const EngineJob& job) {
        const auto published = published_.find(job.url());
        if (job.setup().hidden)
            return false;
        if (published == published_.end())
            return true;
        const auto wanted = wanted_for(published->second);
        return std::ranges::find(wanted, job.setup().engine) == wanted.end();
    });
    for (const auto& [url, published] : published_)
        start_missing(url, published);
}

void EngineService::on_tick() {
    const TimePoint now = io::now();
    note_viewers();
    if (timing_.report_interval.count() == 0 || now - reported_ < timing_.report_interval)
        return;
    reported_ = now;
    report();
}

void EngineService::report() {
    std::map<std::string, std::size_t> inputs;
    jobs_.for_each_current([&inputs](const EngineJob& job) { ++inputs[job.setup().input.label()]; });
    const auto time_ms = std::chrono::duration_cast<std::chrono::milliseconds>(io::now() - began_).count();
    for (const auto& [input, engines] : inputs)
        LOG_INFO(log_, "-> ENC time={}, encoders={}, input={}", time_ms, engines, input);
}

std::vector<EngineService::Listed> EngineService::list() const {
    std::vector<Listed> all;
    const auto now = std::chrono::system_clock::now();
    jobs_.for_each_current([&](const EngineJob& job) {
        const EngineJob::Setup& setup = job.setup();
        const auto command = build_command(setup.engine, setup.input, setup.place, now);
        const ffmpeg::MediaChild::State* const child = job.child();
        all.push_back({job.url(), setup.input.vhost, setup.engine.options.name,
                       setup.hidden   ? "WebRTC players"
                       : command.ok() ? redacted(command->output)
                                      : "",
                       job.state(), child == nullptr ? std::nullopt : std::optional(*child)});
    });
    return all;
}

void EngineService::write_metrics(MetricsText& text) const {
    Totals totals = ended_;
    ffmpeg::RunningChildren running;
    jobs_.for_each_current([&](const EngineJob& job) {
        totals.add(job);
        if (job.child() != nullptr)
            running.add(*job.child());
    });
    using Type = MetricsText::Type;
    text.family("millrace_transcode_engines", Type::gauge, "Engines of published streams.").sample(std::uint64_t{jobs_.size()});
    text.family("millrace_transcode_children", Type::gauge, "Running ffmpeg processes of engines.").sample(running.count);
    text.family("millrace_transcode_starts_total", Type::counter, "Starts of ffmpeg for engines.").sample(totals.starts);
    auto& restarts = text.family("millrace_transcode_ends_total", Type::counter,
                                 "Ends of ffmpeg processes of engines while their stream was published.");
    for (std::size_t i = 0; i < kRestartReasons; ++i)
        restarts.sample(totals.restarts[i], {{"reason", kReasons[i]}});
    text.family("millrace_transcode_dropped_packets_total", Type::counter,
                "Packets that engines did not encode, because ffmpeg was too slow.")
        .sample(totals.dropped);
    text.family("millrace_transcode_children_cpu_seconds", Type::gauge, "CPU time of the running ffmpeg processes of engines.")
        .sample(running.usage.cpu_seconds);
    text.family("millrace_transcode_children_memory_bytes", Type::gauge,
                "Resident memory of the running ffmpeg processes of engines.")
        .sample(running.usage.resident_bytes);
}

}  // namespace live::service::engines
