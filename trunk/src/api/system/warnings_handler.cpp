#include "api/system/warnings_handler.hpp"

#include <chrono>
#include <utility>

#include "api/common/rows.hpp"

namespace live::api {

session::http::Reply WarningsHandler::handle(const session::http::Request& request, io::Deadline) {
    Rows lines;
    for (const LoggedWarning& line : log_.warnings())
        lines.push_back({{"time", std::chrono::duration_cast<std::chrono::milliseconds>(line.time.time_since_epoch()).count()},
                         {"level", line.level == LogLevel::error ? "error" : "warning"},
                         {"id", line.id},
                         {"text", line.text},
                         {"times", line.times},
                         {"worker", engine::workers::Workers()}});
    return row_reply(request, server_, "data", {{"warnings", std::move(lines), kAdd}});
}

}  // namespace live::api
