#include "service/dvr/open_recordings.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/bytes/bytes.hpp"
#include "base/bytes/random.hpp"
#include "io/fibers/off_loop.hpp"
#include "io/files/replace_file.hpp"

namespace live::service::dvr {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kEnding = ".json";

// The members and their names.
template <class Recording, class Visit>
void for_each_text(Recording& recording, Visit&& visit) {
    visit("path", recording.path);
    visit("file", recording.file);
    visit("vhost", recording.vhost);
    visit("url", recording.url);
    visit("client_id", recording.request.id);
    visit("ip", recording.request.ip);
    visit("request_vhost", recording.request.vhost);
    visit("app", recording.request.app);
    visit("stream", recording.request.stream);
    visit("param", recording.request.param);
    visit("tc_url", recording.request.tc_url);
    visit("page_url", recording.request.page_url);
}

struct Found {
    std::string name;
    std::string text;
};

// Runs in a worker.
std::vector<Found> read_folder(const std::string& folder) {
    std::vector<Found> found;
    std::error_code failed;
    for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
        if (found.size() == OpenRecordings::kListedMax)
            break;
        Found one{entry->path().filename().string(), {}};
        std::ifstream in(entry->path(), std::ios::binary);
        one.text.resize(OpenRecordings::kTextBytesMax);
        in.read(one.text.data(), static_cast<std::streamsize>(one.text.size()));
        one.text.resize(static_cast<std::size_t>(in.gcount()));
        found.push_back(std::move(one));
    }
    return found;
}

}  // namespace

std::string text_of(const OpenRecording& recording) {
    Json json;
    for_each_text(recording, [&json](const char* name, const std::string& text) { json[name] = text; });
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<OpenRecording> parse_open_recording(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object())
        return Error(Errc::malformed, "no JSON object");
    OpenRecording recording;
    bool is_good = true;
    for_each_text(recording, [&](const char* name, std::string& into) {
        const auto member = json.find(name);
        if (member != json.end() && member->is_string())
            into = member->get<std::string>();
        else
            is_good = false;
    });
    if (!is_good || !std::filesystem::path(recording.path).is_absolute())
        return Error(Errc::malformed, "no open recording");
    return recording;
}

Result<std::string> OpenRecordings::add(const OpenRecording& recording, io::Deadline deadline) {
    std::string name = random_id() + kEnding;
    const std::string text = text_of(recording);
    const Bytes bytes = as_bytes(text);
    // Its owners are this call and the worker.
    const auto block = std::make_shared<const std::vector<std::uint8_t>>(bytes.begin(), bytes.end());
    TRY(io::replace_file(folder_ + "/" + name, {block}, deadline));
    return name;
}

Result<void> OpenRecordings::remove(const std::string& name, io::Deadline deadline) {
    return io::remove_files({folder_ + "/" + name}, deadline);
}

Result<std::vector<OpenRecordings::Left>> OpenRecordings::left(io::Deadline deadline) {
    auto found = TRY(io::off_loop([folder = folder_] { return read_folder(folder); }, deadline));
    std::vector<Left> all;
    for (Found& one : found) {
        auto recording = parse_open_recording(one.text);
        if (recording.ok())
            all.push_back({std::move(one.name), *std::move(recording)});
        else
            static_cast<void>(remove(one.name, deadline));
    }
    return all;
}

}  // namespace live::service::dvr
