#include "api/streams/uploads_handler.hpp"

#include <optional>
#include <string>

#include "api/common/rows.hpp"

namespace live::api {
using service::upload::UploadService;
using session::http::Reply;
using session::http::Request;

namespace {

std::optional<std::string> text_or_null(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

std::string name_of(UploadService::State state) {
    switch (state) {
        case UploadService::State::queued: return "queued";
        case UploadService::State::sending: return "sending";
        case UploadService::State::waiting: return "waiting";
        case UploadService::State::conflict: break;
    }
    return "conflict";
}

}  // namespace

Reply UploadsHandler::handle(const Request& request, io::Deadline) {
    const auto page = page_of(request);
    if (!page.ok())
        return refuse_page(page.error());
    ListAnswer answer(request);
    for (const UploadService::Listed& upload : uploads_.list(page->start, page->count))
        answer.add({{"vhost", upload.file.vhost},
                    {"app", upload.file.app},
                    {"stream", upload.file.stream},
                    {"file", upload.file.path},
                    {"object", upload.key},
                    {"state", name_of(upload.state)},
                    {"bytes", upload.bytes},
                    {"sent_bytes", upload.sent_bytes},
                    {"error", text_or_null(upload.error)},
                    {"worker", engine::workers::Workers()}});
    return answer.reply(server_, "uploads", *page, uploads_.size());
}

Reply UploadStateHandler::handle(const Request& request, io::Deadline) {
    const UploadService::Totals totals = uploads_.totals();
    return row_reply(request, server_, "data",
                     Row{{"enabled", totals.is_enabled},
                         {"files", std::uint64_t{totals.files}, kAdd},
                         {"bytes", totals.bytes, kAdd},
                         {"uploaded_files", totals.uploaded_files, kAdd},
                         {"uploaded_bytes", totals.uploaded_bytes, kAdd},
                         {"deleted_files", totals.deleted_files, kAdd},
                         {"conflicts", totals.conflicts, kAdd},
                         {"parallel", std::uint64_t{totals.parallel}, kAdd},
                         {"error", text_or_null(totals.error)}});
}

}  // namespace live::api
