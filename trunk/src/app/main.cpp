// The program: from the command line to the last log line. Failures before the log exists go to stderr. The exit status is the
// reference's error code modulo 256, which init scripts depend on.
#include <cstdlib>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/memory/memory_trimmer.hpp"
#include "app/process.hpp"
#include "app/start/command_line.hpp"
#include "app/start/hash_command.hpp"
#include "app/start/profiler.hpp"
#include "app/start/sign_command.hpp"
#include "app/start/start_check.hpp"
#include "app/start/token_command.hpp"
#include "base/version.hpp"
#include "io/tls/openssl_memory.hpp"

namespace live::app {

namespace {

int say(std::string_view text) {
    std::cout << text << std::flush;
    return EXIT_SUCCESS;
}

int test_settings(const CommandLine& command) {
    auto loaded = load_process_settings(command);
    const std::string_view file = command.env_only ? "the environment" : std::string_view(command.conf_file);
    const auto fail = [file](const Error& error) {
        std::cerr << error.sentence() << "\n" << file << ": the configuration test failed\n";
        return exit_status(kInvalidConfig);
    };
    if (!loaded.ok())
        return fail(loaded.error());
    if (const auto entered = enter_work_folder(loaded->settings); !entered.ok())
        return fail(entered.error());
    if (const auto startable = check_start(loaded->settings); !startable.ok())
        return fail(startable.error());
    for (const std::string& warning : loaded->warnings)
        std::cerr << "warning: " << warning << "\n";
    for (const std::string& warning : unwritable_folders(loaded->settings))
        std::cerr << "warning: " << warning << "\n";
    std::cout << "the configuration file " << file << " syntax is ok\n"
              << "the configuration test of " << file << " is successful\n";
    return EXIT_SUCCESS;
}

// A command that prints one line made with the settings of the server: a token, a signed URL.
template <class Command>
[[gnu::noinline]] int print_made(const Result<Command>& command, const std::string& help,
                                 Result<std::string> (*make)(const Command&, const settings::Settings&,
                                                             service::tokens::UnixSeconds)) {
    const auto fail = [&](const Error& error) {
        std::cerr << error.sentence() << "\n";
        return EXIT_FAILURE;
    };
    if (!command.ok()) {
        std::cerr << help << "\n";
        return fail(command.error());
    }
    const auto loaded = load_process_settings(command->conf);
    if (!loaded.ok())
        return fail(loaded.error());
    if (const auto entered = enter_work_folder(loaded->settings); !entered.ok())
        return fail(entered.error());
    const auto made = make(*command, loaded->settings, service::tokens::unix_now());
    return made.ok() ? say(*made + "\n") : fail(made.error());
}

int print_hash(std::span<const std::string_view> arguments, std::string_view program) {
    const auto hash = hash_password(arguments, std::cin);
    if (hash.ok())
        return say(*hash + "\n");
    std::cerr << hash_help(program) << "\n" << hash.error().sentence() << "\n";
    return EXIT_FAILURE;
}

// nullopt if the first word is not the name of a command.
std::optional<int> run_command(std::span<const std::string_view> texts, std::string_view program) {
    const std::string_view name = texts.empty() ? std::string_view() : texts.front();
    const auto arguments = texts.empty() ? texts : texts.subspan(1);
    if (name == TokenCommand::kName)
        return print_made(parse_token_command(arguments, config::process_environment()), token_help(program), make_token);
    if (name == SignCommand::kName)
        return print_made(parse_sign_command(arguments, config::process_environment()), sign_help(program), sign_url);
    if (name == HashCommand::kName)
        return print_hash(arguments, program);
    return std::nullopt;
}

int run(int count, char** arguments) {
    const std::vector<std::string_view> texts(arguments + 1, arguments + count);
    if (const auto status = run_command(texts, arguments[0]))
        return *status;
    const auto command = parse_command_line(texts, config::process_environment());
    if (!command.ok()) {
        std::cerr << command.error().sentence() << "\n";
        return exit_status(kInvalidConfig);
    }
    switch (command->action) {
        case Action::version: return say(std::string(kVersion) + "\n");
        case Action::signature: return say(std::string(kSignature) + "\n");
        case Action::help: return say(help_text(arguments[0]));
        case Action::test: return test_settings(*command);
        case Action::run: break;
    }
    keep_large_memory_apart();
    const ProfilerPlan plan = built_in_profilers();
    // The debug allocator cannot report the size of a block behind a page fence.
    if (!plan.page_fences && !io::count_openssl_memory())
        std::cerr << "warning: the memory of TLS sessions is not counted\n";
    for (const std::string& sentence :
         missing_environment(plan, [](const char* name) -> const char* { return std::getenv(name); }))
        std::cerr << "warning: " << sentence << "\n";
    // Before the settings are read, so that reading them is measured too.
    const Profiler profiler(plan);
    return Process(*command).run();
}

}  // namespace

}  // namespace live::app

// Default options of a sanitizer build, overridden by ASAN_OPTIONS: report and continue, as operators of such builds expect. In
// other builds this is never called; compilers have no common way to detect a sanitizer build.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "halt_on_error=0:detect_leaks=0:alloc_dealloc_mismatch=0"; }

int main(int count, char** arguments) { return live::app::run(count, arguments); }
