#include "supervisor/process/container.hpp"

#include <gtest/gtest.h>

#include <array>

namespace live::supervisor {
namespace {

struct Case {
    const char* name;
    ContainerSigns signs;
    const char* sign;
};

ContainerSigns cgroup(std::string text) { return {std::move(text), {}, false, false, {}, {}}; }

ContainerSigns mounts(std::string text) { return {"0::/\n", std::move(text), false, false, {}, {}}; }

const std::array<Case, 14> kContainers{{
    {"docker, cgroup v1", cgroup("12:cpu,cpuacct:/docker/8c2f\n1:name=systemd:/docker/8c2f\n"),
     "the cgroup of process 1: docker"},
    {"docker, cgroup v2 of the host's namespace", cgroup("0::/system.slice/docker-8c2f.scope\n"),
     "the cgroup of process 1: docker"},
    {"podman, cgroup v2", cgroup("0::/machine.slice/libpod-91ab.scope/container\n"), "the cgroup of process 1: libpod"},
    {"containerd", cgroup("0::/system.slice/containerd.service/x\n"), "the cgroup of process 1: containerd"},
    {"kubernetes, cgroup v1", cgroup("11:pids:/kubepods/besteffort/pod7b/8c2f\n"), "the cgroup of process 1: kubepods"},
    {"kubernetes, systemd driver", cgroup("0::/kubepods.slice/kubepods-pod7b.slice/x.scope"),
     "the cgroup of process 1: kubepods"},
    {"LXC", cgroup("4:memory:/lxc/web\n"), "the cgroup of process 1: /lxc"},
    {"docker, cgroup v2 of its own namespace",
     mounts("700 650 0:60 / / rw,relatime - overlay overlay "
            "rw,lowerdir=/var/lib/docker/overlay2/l/AB:/var/lib/docker/overlay2/l/CD\n"),
     "what is mounted at /"},
    {"docker with another storage driver",
     mounts("700 650 0:60 / / rw - btrfs /dev/sda rw\n710 700 8:1 /var/lib/docker/containers/8c2f/hostname /etc/hostname rw - "
            "ext4 /dev/sda1 rw\n"),
     "what is mounted at /etc/hostname"},
    {"kubernetes, containerd's snapshots",
     mounts("9 8 0:70 / / rw - overlay overlay "
            "rw,lowerdir=/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/9/fs\n"),
     "what is mounted at /"},
    {"podman without root",
     mounts("9 8 0:70 / / rw - overlay overlay rw,lowerdir=/srv/u/.local/share/containers/storage/overlay/l/AB\n"),
     "what is mounted at /"},
    {"docker's file", {"0::/\n", {}, true, false, {}, {}}, "/.dockerenv"},
    {"podman's file", {"0::/\n", {}, false, true, {}, {}}, "/run/.containerenv"},
    {"podman's variable", {"0::/\n", {}, false, false, "podman", {}}, "the variable container"},
}};

const std::array<Case, 6> kMachines{{
    {"nothing to read", {}, ""},
    {"cgroup v1", cgroup("12:cpu,cpuacct:/\n1:name=systemd:/init.scope\n"), ""},
    {"cgroup v2", cgroup("0::/init.scope\n"), ""},
    {"a machine that runs docker and kubernetes",
     mounts("25 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
            "90 25 0:60 / /var/lib/docker/overlay2/8c/merged rw - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/AB\n"
            "91 25 0:61 / /var/lib/kubelet/pods/7b/volumes/x rw - tmpfs tmpfs rw\n"
            "92 25 0:62 / /run/containerd/io.containerd.runtime.v2.task/k8s.io/1/rootfs rw - overlay overlay rw\n"),
     ""},
    {"a live system with an overlay of its own",
     mounts("25 1 0:30 / / rw - overlay overlay rw,lowerdir=/run/live/rootfs,upperdir=/cow\n"), ""},
    {"broken text", {"docker\n:\n::\n", "1 2\n\n/ /docker/\n", false, false, {}, {}}, ""},
}};

TEST(Container, DetectedByCgroupMountsFilesAndVariables) {
    for (const Case& one : kContainers)
        EXPECT_EQ(container_sign(one.signs), one.sign) << one.name;
    EXPECT_EQ(container_sign({"0::/\n", {}, false, false, {}, "10.96.0.1"}), "the variable KUBERNETES_SERVICE_HOST");
}

TEST(Container, OrdinaryMachineIsNoContainer) {
    for (const Case& one : kMachines)
        EXPECT_EQ(container_sign(one.signs), one.sign) << one.name;
}

// Truncated anywhere, a host's text remains a host's.
TEST(Container, TruncatedTextsAreNoContainer) {
    for (const Case& one : kMachines)
        for (std::size_t size = 0; size <= one.signs.mounts.size(); ++size)
            EXPECT_EQ(container_sign(mounts(one.signs.mounts.substr(0, size))), "") << one.name << " " << size;
}

TEST(Container, ReadsTheSignsOfThisMachine) { EXPECT_FALSE(signs_seen_here().mounts.empty()); }

}  // namespace
}  // namespace live::supervisor
