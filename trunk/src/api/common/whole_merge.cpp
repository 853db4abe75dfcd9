#include "api/common/whole_merge.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/json_text.hpp"

namespace live::api {

namespace {

using Json = nlohmann::ordered_json;

Json parsed(const std::string& body) { return Json::parse(body, nullptr, false); }

// The list `key` of an object, or an empty one.
Json list_in(const Json& answer, const char* key) {
    if (!answer.is_object() || !answer.contains(key) || !answer[key].is_array())
        return Json::array();
    return answer[key];
}

Json list_of(const std::string& body, const char* key) { return list_in(parsed(body), key); }

std::string text_at(const Json& entry, const char* key) {
    return entry.is_object() && entry.contains(key) && entry[key].is_string() ? entry[key].get<std::string>() : "";
}

void add_member(Json& to, const Json& from, const char* key) {
    if (!to.is_object() || !from.is_object() || !to.contains(key) || !from.contains(key))
        return;
    Json& sum = to[key];
    const Json& more = from[key];
    if (!sum.is_number() || !more.is_number())
        return;
    if (sum.is_number_float() || more.is_number_float())
        sum = sum.get<double>() + more.get<double>();
    else
        sum = sum.get<std::int64_t>() + more.get<std::int64_t>();
}

void add_usage(Json& to, const Json& from) {
    for (const char* key : {"clients", "send_bytes", "recv_bytes"})
        add_member(to, from, key);
    if (to.contains("kbps") && from.contains("kbps"))
        for (const char* key : {"recv_30s", "send_30s"})
            add_member(to["kbps"], from["kbps"], key);
}

bool is_published(const Json& stream) {
    return stream.contains("publish") && stream["publish"].is_object() && stream["publish"].value("active", Json(false)) == true;
}

// In order of appearance.
Json joined_streams(const WorkerAnswers& answers) {
    Json all = Json::array();
    std::unordered_map<std::string, std::size_t> known;  // by url
    for (const WorkerAnswer& answer : answers)
        for (Json& stream : list_of(answer.body, "streams")) {
            if (!stream.is_object())
                continue;
            const auto [at, is_new] = known.emplace(text_at(stream, "url"), all.size());
            if (is_new) {
                stream["workers"] = Json::array({answer.worker});
                all.push_back(std::move(stream));
                continue;
            }
            Json& other = all[at->second];
            Json workers = std::move(other["workers"]);
            workers.push_back(answer.worker);
            if (is_published(stream) && !is_published(other))
                std::swap(stream, other);
            add_usage(other, stream);
            other["workers"] = std::move(workers);
        }
    return all;
}

void join_origin(Json& all, Json origin) {
    const auto known = std::ranges::find_if(all, [&](const Json& one) { return text_at(one, "url") == text_at(origin, "url"); });
    if (known == all.end()) {
        all.push_back(std::move(origin));
        return;
    }
    if (text_at(*known, "state") != "up" && text_at(origin, "state") == "up")
        std::swap(*known, origin);
    for (const char* key : {"tries", "failures"})
        add_member(*known, origin, key);
}

MergedList page(const Json& all, const Shown& shown, std::size_t total) {
    std::string text;
    for (std::size_t at = shown.start; at < all.size() && at - shown.start < shown.count; ++at)
        text += (text.empty() ? "" : ",") + text_of(all[at]);
    return {"[" + text + "]", total};
}

// The answer's `total`, otherwise the length of its list.
std::size_t total_of(const Json& answer, const char* key) {
    if (answer.is_object() && answer.contains("total") && answer["total"].is_number_unsigned())
        return answer["total"].get<std::size_t>();
    return list_in(answer, key).size();
}

// A sample without its value: name and labels.
struct Sample {
    std::string_view key;
    double value = 0;
};

std::optional<Sample> sample_of(std::string_view line) {
    const std::size_t space = line.rfind(' ');
    if (line.empty() || line.front() == '#' || space == std::string_view::npos)
        return std::nullopt;
    const std::string_view number = line.substr(space + 1);
    double value = 0;
    const auto end = std::from_chars(number.data(), number.data() + number.size(), value);
    if (end.ec != std::errc() || end.ptr != number.data() + number.size())
        return std::nullopt;
    return Sample{line.substr(0, space), value};
}

std::string_view name_of(std::string_view key) { return key.substr(0, key.find('{')); }

// Of these, a sum says nothing.
bool is_greatest(std::string_view name) {
    constexpr std::array<std::string_view, 10> kNames = {
        "connections_max",           "memory_budget_bytes", "uptime_seconds",     "build_info",  "relay_origin_up",
        "rtc_circuit_breaker_level", "stream_published",    "stream_gop_seconds", "registry_up", "registry_latency_seconds"};
    return std::ranges::any_of(kNames, [name](std::string_view one) { return name.ends_with(one); });
}

// Written for each worker too.
bool is_shown_by_worker(std::string_view name) {
    constexpr std::array<std::string_view, 7> kNames = {"srs_cpu_percent",
                                                        "srs_memory",
                                                        "srs_clients",
                                                        "millrace_connections",
                                                        "millrace_uptime_seconds",
                                                        "millrace_loop_lag_seconds_sum",
                                                        "millrace_loop_lag_seconds_count"};
    return std::ranges::find(kNames, name) != kNames.end();
}

std::string number_text(double value) {
    constexpr double kWholeMax = 9e15;
    return value == std::floor(value) && std::abs(value) < kWholeMax ? fmt::format("{}", static_cast<std::int64_t>(value))
                                                                     : fmt::format("{}", value);
}

template <class Visit>
void each_line(std::string_view text, Visit&& visit) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        visit(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// What the workers have measured, by name and labels; and by name, each worker's part.
struct Measured {
    std::unordered_map<std::string, double> values;
    std::map<std::string, std::map<std::size_t, double>> parts;
    std::map<std::string, std::vector<std::string>> keys_of;  // by name, in order of appearance
};

// The processes of a build differ in their pid only.
std::string key_of(std::string_view key) { return std::string(name_of(key) == "srs_build_info" ? name_of(key) : key); }

Measured measure(const WorkerAnswers& answers) {
    Measured all;
    for (const WorkerAnswer& answer : answers)
        each_line(answer.body, [&](std::string_view line) {
            const auto sample = sample_of(line);
            if (!sample)
                return;
            const std::string name(name_of(sample->key));
            const auto [at, is_new] = all.values.emplace(key_of(sample->key), sample->value);
            if (is_new)
                all.keys_of[name].emplace_back(sample->key);
            else
                at->second = is_greatest(name) ? std::max(at->second, sample->value) : at->second + sample->value;
            if (is_shown_by_worker(name) && sample->key.size() == name.size())
                all.parts[name][answer.worker] = sample->value;
        });
    return all;
}

}  // namespace

bool are_whole(const char* key, const WorkerAnswers& answers) {
    return std::ranges::all_of(answers, [key](const WorkerAnswer& answer) {
        const Json body = parsed(answer.body);
        return list_in(body, key).size() >= total_of(body, key);
    });
}

MergedList merge_streams(const WorkerAnswers& answers, const Shown& shown) {
    const Json all = joined_streams(answers);
    return page(all, shown, all.size());
}

MergedList merge_list(const char* key, const WorkerAnswers& answers, const Shown& shown) {
    Json all = Json::array();
    std::size_t total = 0;
    for (const WorkerAnswer& answer : answers) {
        const Json body = parsed(answer.body);
        total += total_of(body, key);
        for (Json& entry : list_in(body, key)) {
            if (!entry.is_object())
                continue;
            entry["worker"] = answer.worker;
            all.push_back(std::move(entry));
        }
    }
    return page(all, shown, total);
}

MergedList merge_vhosts(const WorkerAnswers& answers, const WorkerAnswers& streams, const Shown& shown) {
    Json all = Json::array();
    for (const WorkerAnswer& answer : answers)
        for (Json& vhost : list_of(answer.body, "vhosts")) {
            if (!vhost.is_object())
                continue;
            const auto known =
                std::ranges::find_if(all, [&](const Json& one) { return text_at(one, "name") == text_at(vhost, "name"); });
            if (known == all.end())
                all.push_back(std::move(vhost));
            else
                add_usage(*known, vhost);
        }
    const Json joined = joined_streams(streams);
    for (Json& vhost : all)
        vhost["streams"] =
            std::ranges::count_if(joined, [&](const Json& stream) { return text_at(stream, "vhost") == text_at(vhost, "id"); });
    return page(all, shown, all.size());
}

std::optional<std::string> entry_of(std::string_view array, std::string_view id) {
    const Json all = parsed(std::string(array));
    if (!all.is_array())
        return std::nullopt;
    for (const Json& entry : all)
        if (text_at(entry, "id") == id)
            return text_of(entry);
    return std::nullopt;
}

bool says_origin(const std::string& body) {
    const Json answer = parsed(body);
    return answer.is_object() && answer.contains("data") && answer["data"].is_object() && answer["data"].contains("origin") &&
           answer["data"]["origin"].is_object();
}

std::string merge_summaries(const WorkerAnswers& answers) {
    Json whole;
    Json workers = Json::array();
    for (const WorkerAnswer& answer : answers) {
        const Json body = parsed(answer.body);
        if (!body.is_object() || !body.contains("data") || !body["data"].is_object())
            continue;
        const Json& data = body["data"];
        if (!data.contains("self") || !data.contains("system"))
            continue;
        Json one = {{"worker", answer.worker}};
        for (const char* key : {"pid", "mem_kbyte", "cpu_percent", "srs_uptime"})
            one[key] = data["self"].value(key, Json(0));
        one["conn_srs"] = data["system"].value("conn_srs", Json(0));
        workers.push_back(std::move(one));
        if (whole.is_null()) {
            whole = data;
            continue;
        }
        for (const char* key : {"mem_kbyte", "mem_percent", "cpu_percent"})
            add_member(whole["self"], data["self"], key);
        for (const char* key : {"srs_recv_bytes", "srs_send_bytes", "conn_srs"})
            add_member(whole["system"], data["system"], key);
    }
    if (whole.is_null())
        return "{}";
    whole["workers"] = std::move(workers);
    return text_of(whole);
}

std::string merge_drain(const WorkerAnswers& answers) {
    Json whole;
    for (const WorkerAnswer& answer : answers) {
        const Json body = parsed(answer.body);
        const Json data = body.is_object() ? body.value("data", Json()) : Json();
        if (!data.is_object())
            continue;
        if (whole.is_null()) {
            whole = data;
            continue;
        }
        for (const char* key : {"publishers", "players", "asked", "redirected"})
            add_member(whole, data, key);
    }
    return whole.is_null() ? "{}" : text_of(whole);
}

std::string merge_clusters(const WorkerAnswers& answers) {
    Json whole;
    Json origins = Json::array();
    Json pulls = Json::array();
    for (const WorkerAnswer& answer : answers) {
        const Json body = parsed(answer.body);
        const Json data = body.is_object() ? body.value("data", Json()) : Json();
        if (!data.is_object())
            continue;
        for (Json& origin : list_in(data, "origins"))
            if (origin.is_object())
                join_origin(origins, std::move(origin));
        for (Json& pull : list_in(data, "pulls")) {
            if (!pull.is_object())
                continue;
            pull["worker"] = answer.worker;
            pulls.push_back(std::move(pull));
        }
        if (whole.is_null()) {
            whole = data;
            continue;
        }
        add_member(whole, data, "pushes");
        for (const char* key : {"pulls", "connections", "failovers"})
            if (whole.contains("totals"))
                add_member(whole["totals"], data.value("totals", Json()), key);
    }
    if (whole.is_null())
        return "{}";
    whole["origins"] = std::move(origins);
    whole["pulls"] = std::move(pulls);
    return text_of(whole);
}

std::string merge_memory(const WorkerAnswers& answers) {
    Json whole;
    Json workers = Json::array();
    for (const WorkerAnswer& answer : answers) {
        const Json body = parsed(answer.body);
        const Json data = body.is_object() ? body.value("data", Json()) : Json();
        if (!data.is_object() || !data.contains("kinds") || !data["kinds"].is_object())
            continue;
        Json own = {{"worker", answer.worker}, {"objects", 0}, {"bytes", 0}};
        for (const auto& [name, kind] : data["kinds"].items()) {
            for (const char* key : {"objects", "bytes"})
                add_member(own, kind, key);
            if (!kind.is_object() || !kind.contains("growth"))
                continue;
            if (!own.contains("growth"))
                own["growth"] = {{"objects", 0}, {"bytes", 0}};
            for (const char* key : {"objects", "bytes"})
                add_member(own["growth"], kind["growth"], key);
        }
        workers.push_back(std::move(own));
        if (whole.is_null()) {
            whole = data;
            continue;
        }
        for (auto& [name, sum] : whole["kinds"].items()) {
            const Json kind = data["kinds"].value(name, Json());
            for (const char* key : {"objects", "bytes"})
                add_member(sum, kind, key);
            if (sum.is_object() && sum.contains("growth") && kind.is_object() && kind.contains("growth"))
                for (const char* key : {"objects", "bytes"})
                    add_member(sum["growth"], kind["growth"], key);
        }
    }
    if (whole.is_null())
        return "{}";
    whole["workers"] = std::move(workers);
    return text_of(whole);
}

// In the order of the first answer, family by family; what only others have, in their order.
std::string merge_metrics(const WorkerAnswers& answers) {
    const Measured all = measure(answers);
    std::unordered_map<std::string, bool> written;  // keys and comments
    std::string text;
    const auto write = [&](const std::string& key) {
        if (written[key])
            return;
        written[key] = true;
        text += key + " " + number_text(all.values.at(key_of(key))) + "\n";
    };
    for (const WorkerAnswer& answer : answers)
        each_line(answer.body, [&](std::string_view line) {
            const auto sample = sample_of(line);
            if (!sample) {
                if (!written[std::string(line)])
                    text += std::string(line) + "\n";
                written[std::string(line)] = true;
                return;
            }
            const std::string name(name_of(sample->key));
            if (written["\n" + name])
                return;
            written["\n" + name] = true;
            // All samples of a name are together.
            for (const std::string& key : all.keys_of.at(name))
                write(key);
            if (const auto parts = all.parts.find(name); parts != all.parts.end())
                for (const auto& [worker, value] : parts->second)
                    text += fmt::format("{}{{worker=\"{}\"}} {}\n", name, worker, number_text(value));
        });
    return text;
}

}  // namespace live::api
