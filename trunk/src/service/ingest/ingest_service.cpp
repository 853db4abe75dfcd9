#include "service/ingest/ingest_service.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "service/ffmpeg/find_program.hpp"
#include "service/ingest/rtsp_pull.hpp"
#include "service/ingest/srt_pull.hpp"

namespace live::service::ingest {

namespace {

io::ChildOptions child_of(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine, const IngestPlace& place) {
    // The plan was made from the same options: it has an input and an output.
    auto arguments = MUST(build_ingest_arguments(ingest, engine, place, std::chrono::system_clock::now()));
    arguments.front() = ffmpeg::find_program(arguments.front());
    return {std::move(arguments), ingest_log_path(ingest, engine, place)};
}

// At the epoch, so that equal options give equal texts. Errors as build_ingest_arguments().
Result<std::string> identity_of(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine, const IngestPlace& place) {
    std::string identity = place.vhost + "/" + ingest.id + "\n" + ingest_log_path(ingest, engine, place);
    for (const std::string& word : TRY(build_ingest_arguments(ingest, engine, place, {})))
        identity += "\n" + word;
    return identity + fmt::format("\n{} {} {} {} {} {}", static_cast<int>(ingest.transport), ingest.any_port, ingest.rtp_port_min,
                                  ingest.rtp_port_max, ingest.tls_verify, ingest.on_demand);
}

}  // namespace

IngestService::IngestService(const WantedIngests& wanted, const Links& links, Log log, ffmpeg::SupervisorOptions supervision)
    : wanted_(wanted), links_(links), log_(std::move(log)), supervision_(std::move(supervision)) {
    supervision_.keyword = "IGS";
}

IngestService::~IngestService() = default;

void IngestService::add_plans(const IngestSet& set, const IngestOptions& ingest, std::vector<Plan>& plans) const {
    if (ingest.engines.empty())
        LOG_ERROR(log_, "IGS ingest {} of {} has no engine, so no output: it is left out", ingest.id, set.place.vhost);
    for (const ffmpeg::EngineOptions& engine : ingest.engines) {
        auto identity = identity_of(ingest, engine, set.place);
        if (!identity.ok()) {
            LOG_ERROR(log_, "IGS {}", identity.error().sentence());
            continue;
        }
        const auto native = native_of(ingest, engine, set.place, nullptr);
        if (ingest.on_demand && !native)
            LOG_WARN(log_, "IGS ingest {} of {} runs always: ffmpeg has no on_demand", ingest.id, set.place.vhost);
        if (!links_.runs_all && !(ingest.on_demand && native))
            continue;
        const auto stream = published_stream(ingest, engine, set.place);
        plans.push_back({set.place, ingest, engine, *std::move(identity), stream ? wanted_.url_of(*stream) : std::string(),
                         native.has_value()});
    }
}

std::vector<IngestService::Plan> IngestService::plan(const std::vector<IngestSet>& wanted) const {
    std::vector<Plan> plans;
    for (const IngestSet& set : wanted)
        for (const IngestOptions& ingest : set.ingests)
            if (ingest.enabled)
                add_plans(set, ingest, plans);
    return plans;
}

Result<void> IngestService::start(io::Scope&, io::Deadline deadline) {
    apply(deadline);
    return {};
}

void IngestService::apply(io::Deadline deadline) {
    if (children_.is_stopping())
        return;
    const auto changed = change(plan(wanted_.wanted()), deadline.sooner(io::Deadline::after(kEndLimit)));
    if (!changed.ok())
        LOG_ERROR(log_, "ingest: {}", changed.error().text());
}

Result<void> IngestService::change(std::vector<Plan> plans, io::Deadline deadline) {
    std::unordered_set<std::string_view> wanted;
    for (const Plan& each : plans)
        wanted.insert(each.identity);
    children_.end_if([&](const Child& child) {
        if (wanted.contains(child.plan.identity))
            return false;
        demands_.erase(child.plan.url);
        ended_ += facts_of(child);
        return true;
    });
    TRY(children_.join_ended(deadline));
    if (children_.is_stopping())
        return {};
    std::unordered_set<std::string> running;
    children_.for_each([&running](const Child& child) { running.insert(child.plan.identity); });
    for (Plan& each : plans)
        if (running.insert(each.identity).second)
            start_child(std::move(each));
    return {};
}

io::TlsContext* IngestService::tls_for(const IngestOptions& ingest) {
    if (ingest.tls_verify)
        return links_.tls;
    if (unverified_ == nullptr)
        if (auto made = io::TlsContext::client(io::TlsVerify::none); made.ok())
            unverified_ = *std::move(made);
    return unverified_.get();
}

std::optional<IngestService::Native> IngestService::native_of(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                                              const IngestPlace& place, io::TlsContext* tls) const {
    if (links_.srt != nullptr)
        if (const auto target = srt_pull_target(ingest, engine, place)) {
            auto call = [dialler = links_.srt, from = target->from](session::ClientRequest to, const Log& log,
                                                                    const session::OnPulling& on_pulling, io::Deadline deadline) {
                return dialler->pull(from, std::move(to), log, on_pulling, deadline);
            };
            return Native{std::move(call), target->from.label(), target->to};
        }
    if (links_.rtsp != nullptr)
        if (auto target = rtsp_pull_target(ingest, engine, place)) {
            target->options.tls = tls;
            auto call = [dialler = links_.rtsp, from = target->from, options = target->options](
                            session::ClientRequest to, const Log& log, const session::OnPulling& on_pulling,
                            io::Deadline deadline) mutable {
                return dialler->pull(from, options, std::move(to), log, on_pulling, deadline);
            };
            return Native{std::move(call), target->from.label(), target->to};
        }
    return std::nullopt;
}

IngestService::Work IngestService::native_work_for(const Plan& plan, Native native, const Log& log) {
    std::shared_ptr<Demand> demand;  // owners: the pull, and clients that wait
    if (plan.ingest.on_demand && !plan.url.empty())
        demand = demands_[plan.url] = std::make_shared<Demand>();
    auto hold = [&streams = links_.streams, url = plan.url](bool holds) {
        if (const auto source = streams.find(url))
            source->publications().set_may_return(holds);
    };
    NativePull::Timing timing{plan.place.vhost + "/" + plan.ingest.id, std::min(supervision_.restart_first, kNativeRetryFirst),
                              supervision_.restart_max, supervision_.good_after};
    return NativePull(std::move(native.call), std::move(native.label), std::move(native.to), std::move(timing), log,
                      std::move(hold), std::move(demand));
}

IngestService::Work IngestService::work_for(const Plan& plan) {
    const Log log = log_.with_id(random_id());
    if (auto native = native_of(plan.ingest, plan.engine, plan.place, tls_for(plan.ingest)))
        return native_work_for(plan, *std::move(native), log);
    ffmpeg::SupervisorOptions options = supervision_;
    options.name = plan.place.vhost + "/" + plan.ingest.id;
    auto make_child = [ingest = plan.ingest, engine = plan.engine, place = plan.place] {
        return child_of(ingest, engine, place);
    };
    return ffmpeg::Supervisor(std::move(options), std::move(make_child), log);
}

std::size_t IngestService::processes() const {
    std::size_t count = 0;
    children_.for_each([&count](const Child& child) { count += child.plan.is_native ? 0 : 1; });
    return count;
}

void IngestService::start_child(Plan plan) {
    const std::string name = plan.place.vhost + "/" + plan.ingest.id;
    const bool is_full = children_.size() >= kIngestsMax;
    if (is_full || (!plan.is_native && processes() >= kChildrenMax)) {
        LOG_ERROR(log_, "IGS {} is left out: {} ingests are the limit", name, is_full ? kIngestsMax : kChildrenMax);
        return;
    }
    auto work = work_for(plan);
    const auto started = children_.start(std::move(plan), std::move(work));
    if (!started.ok())
        LOG_ERROR(log_, "IGS {} cannot start: {}", name, started.error().text());
}

// A viewer that waits for the stream, or watches it, keeps the pull.
void IngestService::on_tick() {
    const TimePoint now = io::now();
    for (const auto& [url, demand] : demands_)
        if (const auto source = links_.streams.find(url); source && source->readers().is_watched())
            demand->note(now);
    children_.for_each([now](const Child& child) {
        if (const auto* const pull = std::get_if<NativePull>(&child.work))
            pull->check_demand(now);
    });
}

Result<void> IngestService::fetch(const session::StreamPlan& plan, io::Deadline deadline) {
    const auto found = demands_.find(plan.url);
    if (found == demands_.end())
        return Error(Errc::not_found, "there is no stream " + plan.url);
    const std::shared_ptr<Demand> demand = found->second;
    const auto source = TRY(links_.streams.find_or_create(plan.url, plan.play, plan.chunk_size));
    return wait_for_media(source, *demand, deadline.sooner(io::Deadline::after(kFetchLimit)));
}

}  // namespace live::service::ingest
