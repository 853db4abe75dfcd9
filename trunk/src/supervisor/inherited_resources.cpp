#include "supervisor/inherited_resources.hpp"

#include <algorithm>
#include <utility>

#include <fcntl.h>

namespace live::supervisor {

namespace messages = engine::workers;
using messages::Kind;
using messages::Message;

namespace {

Result<void> take_gift(InheritedResources& inherited, const Message& gift, io::Socket passed) {
    const std::string& name = gift.text;
    if (gift.worker != 0) {
        inherited.sockets.resize(std::max<std::size_t>(inherited.sockets.size(), gift.worker));
        auto& sockets = inherited.sockets[gift.worker - 1U];
        if (sockets.size() < io::kBoundSocketsMax)
            sockets.push_back({name, std::move(passed)});
    } else if (name == kParentGift) {
        inherited.parent = std::move(passed);
    } else if (!name.starts_with(kPidGift)) {
        return io::inherit(name, std::move(passed));
    } else if (inherited.pid_file < 0) {
        inherited.pid_path = name.substr(kPidGift.size());
        inherited.pid_file = ::fcntl(passed.fd(), F_DUPFD_CLOEXEC, 0);
    }
    return {};
}

}  // namespace

Result<InheritedResources> receive_inherited(MasterLine& from, io::Deadline deadline) {
    InheritedResources inherited;
    for (;;) {
        auto incoming = TRY(from.next("the running process does not say what is to be taken over", deadline));
        const Message& message = incoming.message;
        if (message.kind == Kind::gift && incoming.passed.is_open())
            TRY(take_gift(inherited, message, std::move(incoming.passed)));
        if (message.kind != Kind::begin)
            continue;
        inherited.number = message.worker;
        inherited.workers = std::max<std::size_t>(message.ticket, 1);
        inherited.parent_stays = message.flag == 1;
        return inherited;
    }
}

}  // namespace live::supervisor
