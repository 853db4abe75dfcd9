// Encodes a slate by an ffmpeg child process.
#pragma once

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/slate/prepared_slate.hpp"
#include "service/slate/slate_form.hpp"

namespace live::service::slate {

// The error's sentence is ffmpeg's last line, or the reason why ffmpeg does not start.
Result<PreparedSlate> encode_slate(const SlateForm& form, const std::string& file, io::Deadline deadline);

}  // namespace live::service::slate
