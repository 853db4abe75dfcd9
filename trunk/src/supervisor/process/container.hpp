// Whether this process runs in a container. container_sign() is dry; only signs_seen_here() inspects the machine.
#pragma once

#include <string>

namespace live::supervisor {

struct ContainerSigns {
    std::string init_cgroup;  // text of /proc/1/cgroup
    std::string mounts;       // text of /proc/self/mountinfo
    bool has_dockerenv = false;
    bool has_containerenv = false;
    std::string container;        // the variable `container`, set by podman, LXC and systemd-nspawn
    std::string kubernetes_host;  // the variable KUBERNETES_SERVICE_HOST
};

ContainerSigns signs_seen_here();

// The sign that this is a container; empty if missing.
std::string container_sign(const ContainerSigns& signs);

}  // namespace live::supervisor
