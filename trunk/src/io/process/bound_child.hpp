// Starts a child process that the kernel kills when this process ends, which posix_spawn cannot do. For ChildProcess::spawn().
#pragma once

#include <sys/types.h>

namespace live::io {

struct ChildOptions;

// Starts options.arguments and sets `pid`. Returns 0, or the errno of the step that failed: then there is no child. `arguments`
// and `environment` end with nullptr. All descriptors that the child does not get are closed in it.
int start_bound_child(const ChildOptions& options, const char* output, char** arguments, char** environment, pid_t& pid);

}  // namespace live::io
