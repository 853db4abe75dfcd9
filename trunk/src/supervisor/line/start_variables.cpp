#include "supervisor/line/start_variables.hpp"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace live::supervisor {

using engine::workers::Worker;
using engine::workers::WorkerIdentity;

namespace {

std::string_view value_of(const config::Environment& environment, std::string_view name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string_view() : std::string_view(found->second);
}

// Takes a number and the slash behind it off `text`. Returns 0 if it is missing or above `most`.
unsigned take_number(std::string_view& text, unsigned most) {
    unsigned number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto used = static_cast<std::size_t>(end.ptr - text.data());
    if (end.ec != std::errc() || number > most || !text.substr(used).starts_with('/'))
        return 0;
    text.remove_prefix(used + 1);
    return number;
}

std::optional<StartedBy> parse_worker(std::string_view text) {
    const auto number = static_cast<Worker>(take_number(text, engine::workers::kWorkersMax));
    const auto count = static_cast<Worker>(take_number(text, engine::workers::kWorkersMax));
    const auto id = static_cast<Worker>(take_number(text, engine::workers::kMembersMax));
    if (number == 0 || count < number || id < number || (id - number) % count != 0 || text.empty())
        return std::nullopt;
    return StartedBy{{number, count, id}, 0, std::string(text)};
}

std::optional<StartedBy> parse_successor(std::string_view text) {
    const unsigned version = take_number(text, ~0U);
    if (version == 0 || text.empty())
        return std::nullopt;
    return StartedBy{{}, version, std::string(text)};
}

}  // namespace

StartedBy started_by(const config::Environment& environment) {
    if (auto worker = parse_worker(value_of(environment, kWorkerVariable)))
        return *std::move(worker);
    return parse_successor(value_of(environment, kSuccessorVariable)).value_or(StartedBy{});
}

std::string successor_variable(std::string_view secret) {
    return fmt::format("{}={}/{}", kSuccessorVariable, engine::workers::kSpoken, secret);
}

std::string worker_variable(const WorkerIdentity& identity, std::string_view secret) {
    return fmt::format("{}={}/{}/{}/{}", kWorkerVariable, identity.number, identity.count, identity.address(), secret);
}

}  // namespace live::supervisor
