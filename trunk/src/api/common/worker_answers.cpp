#include "api/common/worker_answers.hpp"

#include <algorithm>
#include <unordered_map>

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

}  // namespace live::api
