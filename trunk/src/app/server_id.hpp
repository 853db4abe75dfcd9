// The server's id, which the API and callbacks show: the conf's, else the one in the .id file beside the pid file, else a new one
// that is kept there. It stays the same over restarts.
#pragma once

#include <string>
#include <string_view>

namespace live::app {

// An id in a file longer than this, or with anything but printable letters, is not taken.
inline constexpr std::size_t kServerIdMax = 64;

// "objs/srs.pid" -> "objs/srs.id"; a name without ".pid" at its end gets ".id" behind it.
std::string server_id_path(std::string_view pid_path);
// The folder of the list of open recordings, beside them.
std::string open_recordings_path(std::string_view pid_path);

struct ServerId {
    std::string id;
    // Why a new id could not be kept; empty when all is well. The id is good for this run.
    std::string warning;
};

// `configured` is server_id of the conf file, empty when it is not said.
ServerId find_server_id(const std::string& configured, const std::string& pid_path);

}  // namespace live::app
