// CasterFront: the stream casters of the settings that speak HTTP: one listener each, where publishers POST FLV.
#pragma once

#include <memory>
#include <vector>

#include "base/log.hpp"
#include "io/scope.hpp"
#include "main/settings.hpp"
#include "session/common/places.hpp"
#include "session/flv/publish_handler.hpp"
#include "session/http/acceptor.hpp"
#include "session/http/context.hpp"
#include "session/http/router.hpp"

namespace live::main_ {

class CasterFront {
public:
    // What is referred to outlives this.
    CasterFront(session::flv::Context& flv, MutBytes scratch, session::Places& places, const Log& log);
    ~CasterFront();
    CasterFront(const CasterFront&) = delete;
    CasterFront& operator=(const CasterFront&) = delete;

    // Opens the endpoints of every enabled caster of FLV. Errors as TcpListener::listen.
    Result<void> listen(const Settings& settings);
    void stop(io::Deadline deadline);
    // Bytes of all publishers here.
    session::Traffic traffic() const;

private:
    struct Caster;

    session::flv::Context& flv_;
    MutBytes scratch_;
    session::Places& places_;
    const Log& log_;
    io::Scope connections_{"caster-connection"};
    io::Scope listeners_{"caster-listener"};
    std::vector<std::unique_ptr<Caster>> casters_;
};

}  // namespace live::main_
