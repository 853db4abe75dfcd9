#include "service/ingest/ingest_service.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
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

}  // namespace

IngestService::IngestService(const WantedIngests& wanted, Diallers diallers, Log log, ffmpeg::SupervisorOptions supervision)
    : wanted_(wanted), diallers_(diallers), log_(std::move(log)), supervision_(std::move(supervision)) {
    supervision_.keyword = "IGS";
}

IngestService::~IngestService() = default;

std::vector<IngestService::Plan> IngestService::plan(const std::vector<IngestSet>& wanted) const {
    std::vector<Plan> plans;
    for (const IngestSet& set : wanted) {
        for (const IngestOptions& ingest : set.ingests) {
            if (!ingest.enabled)
                continue;
            if (ingest.engines.empty())
                LOG_ERROR(log_, "IGS ingest {} of {} has no engine, so no output: it is left out", ingest.id, set.place.vhost);
            for (const ffmpeg::EngineOptions& engine : ingest.engines) {
                // At the epoch, so that equal options give equal words.
                auto words = build_ingest_arguments(ingest, engine, set.place, {});
                if (!words.ok()) {
                    LOG_ERROR(log_, "IGS {}", words.error().sentence());
                    continue;
                }
                words->push_back(ingest_log_path(ingest, engine, set.place));
                words->push_back(set.place.vhost + "/" + ingest.id);
                plans.push_back({set.place, ingest, engine, *std::move(words)});
            }
        }
    }
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
    children_.end_if(
        [&plans](const Child& child) { return std::ranges::find(plans, child.identity, &Plan::identity) == plans.end(); });
    TRY(children_.join_ended(deadline));
    if (children_.is_stopping())
        return {};
    for (Plan& each : plans)
        if (children_.find([&each](const Child& child) { return child.identity == each.identity; }) == nullptr)
            start_child(std::move(each));
    return {};
}

std::optional<IngestService::Work> IngestService::native_work_for(const Plan& plan, const NativePull::Timing& timing,
                                                                  const Log& log) {
    if (diallers_.srt != nullptr)
        if (const auto target = srt_pull_target(plan.ingest, plan.engine, plan.place)) {
            auto call = [dialler = diallers_.srt, from = target->from](session::ClientRequest to, const Log& its_log,
                                                                       io::Deadline deadline) {
                return dialler->pull(from, std::move(to), its_log, deadline);
            };
            return NativePull(std::move(call), target->from.label(), target->to, timing, log);
        }
    if (diallers_.rtsp != nullptr)
        if (const auto target = rtsp_pull_target(plan.ingest, plan.engine, plan.place)) {
            auto call = [dialler = diallers_.rtsp, from = target->from](session::ClientRequest to, const Log& its_log,
                                                                        io::Deadline deadline) {
                return dialler->pull(from, std::move(to), its_log, deadline);
            };
            return NativePull(std::move(call), target->from.label(), target->to, timing, log);
        }
    return std::nullopt;
}

IngestService::Work IngestService::work_for(Plan plan) {
    ffmpeg::SupervisorOptions options = supervision_;
    options.name = plan.place.vhost + "/" + plan.ingest.id;
    const Log log = log_.with_id(random_id());
    if (auto native = native_work_for(plan, {options.name, options.restart_first, options.restart_max, options.good_after}, log))
        return *std::move(native);
    auto make_child = [ingest = std::move(plan.ingest), engine = std::move(plan.engine), place = std::move(plan.place)] {
        return child_of(ingest, engine, place);
    };
    return ffmpeg::Supervisor(std::move(options), std::move(make_child), log);
}

void IngestService::start_child(Plan plan) {
    const std::string name = plan.place.vhost + "/" + plan.ingest.id;
    if (children_.size() >= kChildrenMax) {
        LOG_ERROR(log_, "IGS {} is left out: {} ingests are the limit", name, kChildrenMax);
        return;
    }
    auto identity = std::move(plan.identity);
    const auto started = children_.start(std::move(identity), work_for(std::move(plan)));
    if (!started.ok())
        LOG_ERROR(log_, "IGS {} cannot start: {}", name, started.error().text());
}

}  // namespace live::service::ingest
