// ServiceList: all services of the server, each after those that it depends on. What is started is started in that order, and
// stopped in the opposite one.
#pragma once

#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "service/service.hpp"

namespace live::service {

class ServiceList {
public:
    // `log` outlives this, and the services outlive the calls.
    explicit ServiceList(const Log& log) : log_(log) {}
    void add(Service& service) { services_.push_back(&service); }

    // The first error ends it; stop() is to be called in any case.
    Result<void> start(io::Scope& fibers, io::Deadline deadline);
    Result<void> prepare(io::Deadline deadline);
    void apply(io::Deadline deadline);

    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan);
    void on_unpublished(const std::string& url);
    void on_tick();

    // What fails is in the log and holds up nobody else. First the doors, then those who come by themselves: in the list's order.
    void close(io::Deadline deadline);
    void stop(io::Deadline deadline);

    std::vector<StreamHolder*> memory() const;

private:
    const Log& log_;
    std::vector<Service*> services_;
};

}  // namespace live::service
