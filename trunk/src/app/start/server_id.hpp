// The server's id, shown by the API and callbacks: from the conf file, otherwise from the .id file beside the pid file, otherwise
// a new one that is stored there. It survives restarts.
#pragma once

#include <string>
#include <string_view>

namespace live::app {

// An id in a file that is longer than this, or has unprintable characters, is ignored.
inline constexpr std::size_t kServerIdMax = 64;

// "objs/srs.pid" -> "objs/srs.id"; ".id" is appended to a name without ".pid" at its end.
std::string server_id_path(std::string_view pid_path);
// The folder for the list of open recordings, beside these files.
std::string open_recordings_path(std::string_view pid_path);

struct ServerId {
    std::string id;
    // Why a new id could not be stored; otherwise empty. The id is valid for this run.
    std::string warning;
};

// `configured` is server_id of the conf file, empty when not set.
ServerId find_server_id(const std::string& configured, const std::string& pid_path);

}  // namespace live::app
