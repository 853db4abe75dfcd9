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

bool makes(const EngineJob& job, const std::string& url) {
    const auto& urls = job.setup().own_urls;
    return std::ranges::find(urls, url) != urls.end();
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
    jobs_.for_each([&](const EngineJob& job) { is_made = is_made || (!job.setup().hidden && makes(job, plan.url)); });
    Published& published = published_[plan.url];
    published = {request.vhost,
                 {plan.vhost, request.app, request.stream, request.param},
                 is_made ? Origin::engine : Origin::client,
                 log_.with_id(request.id),
                 {}};
    start_missing(plan.url, published);
}

void EngineService::start_missing(const std::string& url, const Published& published) {
    std::vector<Group> groups;
    for (const Engine& engine : wanted_for(published)) {
        const auto has_it = [&engine](const std::vector<Engine>& engines) {
            return std::ranges::find(engines, engine) != engines.end();
        };
        const auto is_running = [&](const EngineJob& job) { return job.url() == url && has_it(job.setup().engines); };
        if (jobs_.find(is_running) != nullptr || std::ranges::any_of(groups, has_it, &Group::engines))
            continue;
        auto group = group_of(url, published, engine);
        if (!group)
            continue;
        const auto same = std::ranges::find_if(groups, [&](const Group& other) {
            return group->is_shared && other.is_shared && other.engines.size() < kSharedMax &&
                   have_same_input(other.engines.front(), engine);
        });
        if (same == groups.end()) {
            groups.push_back(*std::move(group));
        } else {
            same->engines.push_back(engine);
            same->own_urls.push_back(group->own_urls.front());
        }
    }
    for (Group& group : groups)
        start_group(url, published, std::move(group));
}

std::optional<EngineService::Group> EngineService::group_of(const std::string& url, const Published& published,
                                                            const Engine& engine) const {
    const std::string label = published.input.label() + "/" + engine.options.name;
    const auto command = build_command({engine}, published.input, context_.place(), std::chrono::system_clock::now());
    if (!command.ok()) {
        LOG_ERROR(published.log, "ENC {} does not start: {}", label, command.error().sentence());
        return std::nullopt;
    }
    const auto& own = command->outputs.front().own;
    const std::string own_url = own ? context_.url_of(*own) : std::string();
    if (own_url == url) {
        LOG_ERROR(published.log, "ENC {} does not start: its output is its own input", label);
        return std::nullopt;
    }
    const bool is_alone = std::ranges::find(published.alone, engine) != published.alone.end();
    return Group{{engine}, {own_url}, !is_alone && can_share(engine, *command)};
}

std::size_t EngineService::engine_count() const {
    std::size_t count = 0;
    jobs_.for_each_current([&count](const EngineJob& job) { count += job.setup().engines.size(); });
    return count;
}

void EngineService::start_group(const std::string& url, const Published& published, Group group) {
    std::string label = published.input.label() + "/" + group.engines.front().options.name;
    for (std::size_t i = 1; i < group.engines.size(); ++i)
        label += "," + group.engines[i].options.name;
    const auto source = context_.publish.streams.find(url);
    if (!source)
        return;
    if (engine_count() + group.engines.size() > kEnginesMax) {
        LOG_ERROR(published.log, "ENC {} does not start: {} engines are the limit", label, kEnginesMax);
        return;
    }
    const bool is_on_demand = group.engines.front().on_demand;
    const std::string own_url = group.own_urls.front();
    EngineJob::Setup setup{source,           std::move(group.engines),  published.input,
                           context_.place(), std::move(group.own_urls), limits_.of(label, io::now())};
    if (is_on_demand && !own_url.empty())
        // Owners: this, the job and waiting clients.
        setup.demand = demands_[own_url] = std::make_shared<ingest::Demand>();
    else if (is_on_demand)
        LOG_WARN(published.log, "ENC {} runs always: on_demand needs an output that is a stream of this server", label);
    const auto started = jobs_.start(std::move(setup), timing_, context_.publish, published.log);
    if (!started.ok())
        LOG_ERROR(published.log, "ENC {} cannot start: {}", label, started.error().text());
}

void EngineService::separate_failed() {
    std::vector<std::string> urls;
    end_if([&](const EngineJob& job) {
        const auto published = published_.find(job.url());
        if (job.state().failed.empty() || published == published_.end())
            return false;
        for (const std::size_t index : job.state().failed) {
            const Engine& engine = job.setup().engines[index];
            LOG_WARN(published->second.log, "ENC {}/{} gets an ffmpeg of its own, because the shared one has failed: {}",
                     job.setup().input.label(), engine.options.name, job.state().last_end);
            published->second.alone.push_back(engine);
        }
        urls.push_back(job.url());
        return true;
    });
    for (const std::string& url : urls)
        start_missing(url, published_[url]);
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

// Engines that a reload has not changed continue, but for those that share an ffmpeg with one that it has.
void EngineService::apply(io::Deadline) {
    end_if([this](const EngineJob& job) {
        const auto published = published_.find(job.url());
        if (job.setup().hidden)
            return false;
        if (published == published_.end())
            return true;
        const auto wanted = wanted_for(published->second);
        return std::ranges::any_of(job.setup().engines,
                                   [&wanted](const Engine& engine) { return std::ranges::find(wanted, engine) == wanted.end(); });
    });
    for (auto& [url, published] : published_) {
        published.alone.clear();
        start_missing(url, published);
    }
}

void EngineService::on_tick() {
    const TimePoint now = io::now();
    note_viewers();
    separate_failed();
    if (timing_.report_interval.count() == 0 || now - reported_ < timing_.report_interval)
        return;
    reported_ = now;
    report();
}

void EngineService::report() {
    std::map<std::string, std::size_t> inputs;
    jobs_.for_each_current([&inputs](const EngineJob& job) { inputs[job.setup().input.label()] += job.setup().engines.size(); });
    const auto time_ms = std::chrono::duration_cast<std::chrono::milliseconds>(io::now() - began_).count();
    for (const auto& [input, engines] : inputs)
        LOG_INFO(log_, "-> ENC time={}, encoders={}, input={}", time_ms, engines, input);
}

std::vector<EngineService::Listed> EngineService::list() const {
    std::vector<Listed> all;
    const auto now = std::chrono::system_clock::now();
    jobs_.for_each_current([&](const EngineJob& job) {
        const EngineJob::Setup& setup = job.setup();
        const auto command = build_command(setup.engines, setup.input, setup.place, now);
        for (std::size_t i = 0; i < setup.engines.size(); ++i) {
            Listed& one =
                all.emplace_back(Listed{job.url(), setup.input.vhost, setup.engines[i].options.name, {}, job.state(), {}});
            if (setup.hidden)
                one.output = "WebRTC players";
            else if (command.ok())
                one.output = redacted(command->outputs[i].text);
            if (job.child() == nullptr)
                continue;
            one.child = *job.child();
            one.child->output_bytes = job.output_bytes(i);
        }
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
    text.family("millrace_transcode_engines", Type::gauge, "Engines of published streams.").sample(std::uint64_t{engine_count()});
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
