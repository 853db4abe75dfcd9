#include "app/wiring/api_wiring.hpp"

#include <fstream>

#include <unistd.h>

#include "api/debug/fault_handler.hpp"
#include "api/debug/fibers_handler.hpp"
#include "api/debug/profile_handler.hpp"
#include "api/debug/self_test_handler.hpp"
#include "api/description/openapi.hpp"
#include "api/system/conf_warnings_handler.hpp"
#include "api/system/history_handler.hpp"
#include "api/system/info_handlers.hpp"
#include "api/system/server_handlers.hpp"
#include "api/system/system_handlers.hpp"
#include "api/system/warnings_handler.hpp"
#include "app/wiring/features.hpp"
#include "base/version.hpp"
#include "build_info.hpp"
#include "io/fibers/loop.hpp"
#include "io/process/leak_check.hpp"
#include "settings/conf/tools.hpp"

namespace live::app {

namespace {

std::string command_line_of_process() {
    std::ifstream file("/proc/self/cmdline");
    std::string words;
    std::getline(file, words);
    for (char& letter : words)
        if (letter == '\0')
            letter = ' ';
    while (!words.empty() && words.back() == ' ')
        words.pop_back();
    return words;
}

api::ServerInfo info_of(const ServerNames& names) {
    api::ServerInfo info;
    info.server_id = names.server_id;
    info.service_id = names.service_id;
    info.process_id = names.process_id;
    info.parent_id = ::getppid();
    info.command_line = command_line_of_process();
    char folder[4096];
    info.working_folder = ::getcwd(folder, sizeof folder) == nullptr ? "" : folder;
    info.started = io::now();
    info.user_options = build_info::kUserOptions;
    info.options = build_info::kOptions;
    info.build_date = build_info::kDate;
    info.build_machine = build_info::kUname;
    info.license = kLicense;
    info.contributors = "CONTRIBUTING.md and the history of the source tree";
    info.features = features_of(settings::describe_settings());
    return info;
}

api::ExporterSettings exporter_of(const settings::ExporterOptions& options) {
    return {options.enabled, options.label, options.tag, options.streams ? options.streams_max : 0};
}

}  // namespace

ApiWiring::ApiWiring(const settings::CurrentSettings& settings, const Sources& sources, const Log& log)
    : info_(info_of(sources.names)), sampler_(sources.counters, settings->stats.disk) {
    endpoints_.add<api::OpenApiHandler>(api::OpenApiHandler::kPath, endpoints_);
    api::add_server(endpoints_, sampler_);
    api::add_info(endpoints_);
    api::add_system(endpoints_, sampler_);
    api::add_stats(endpoints_, sources.stream_stats, sources.vhosts, &sources.relay, &sources.forwards);
    endpoints_.add<api::HistoryHandler>(api::HistoryHandler::kPath, info_, sources.stream_stats, sampler_.record());
    api::add_metrics(endpoints_,
                     {info_, sampler_, sources.counters, sources.stream_stats, sources.fan_out, sources.protocols, sources.places,
                      sources.transcoders, sources.services},
                     sources.readiness, exporter_of(settings->exporter));
    endpoints_.add<api::RawHandler>("/api/v1/raw", info_, sources.raw);
    endpoints_.add<api::ConfWarningsHandler>("/api/v1/configs/warnings", info_, sources.conf_warnings);
    endpoints_.add<api::WarningsHandler>(api::WarningsHandler::kPath, info_, log);
    endpoints_.add<api::DrainHandler>("/api/v1/drain", info_, sources.drain);
    endpoints_.add<api::UpgradeHandler>(api::UpgradeHandler::kPath, info_, sources.upgrade, sources.drain, sources.workers);
    add_inspection(sources.protocols, log);
}

void ApiWiring::add_inspection(const session::Protocols& protocols, const Log& log) {
    endpoints_.add<api::FibersHandler>("/api/v1/fibers", info_);
    endpoints_.add<api::ProfileHandler>("/api/v1/profile");
    endpoints_.add<api::SelfTestHandler>("/api/v1/doctor/", info_, protocols);
    if (io::can_check_leaks())
        valgrind_ = &endpoints_.add<api::ValgrindHandler>("/api/v1/valgrind", info_, log, io::check_leaks);
    if (api::FaultHandler::is_built())
        endpoints_.add<api::FaultHandler>("/api/v1/fault", info_);
}

Result<void> ApiWiring::start(const settings::Settings& settings, io::Scope& fibers) {
    if (settings.stats.enabled)
        TRY(fibers.start("system-sampler", [this](io::Deadline forever) { sampler_.run(forever); }));
    if (valgrind_ != nullptr)
        TRY(fibers.start("leak-check", [this](io::Deadline forever) { valgrind_->run(forever); }));
    return {};
}

std::string ApiWiring::summaries() const { return api::summaries(info_, sampler_); }

}  // namespace live::app
