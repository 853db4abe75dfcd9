#include "service/service_list.hpp"

#include "base/log/log_format.hpp"

namespace live::service {

Result<void> ServiceList::start(io::Scope& fibers, io::Deadline deadline) {
    for (Service* service : services_)
        TRY(service->start(fibers, deadline));
    return {};
}

Result<void> ServiceList::prepare(io::Deadline deadline) {
    for (Service* service : services_)
        TRY(service->prepare(deadline));
    return {};
}

void ServiceList::apply(io::Deadline deadline) {
    for (Service* service : services_)
        service->apply(deadline);
}

void ServiceList::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    for (Service* service : services_)
        service->on_published(request, plan);
}

void ServiceList::on_unpublished(const std::string& url) {
    for (Service* service : services_)
        service->on_unpublished(url);
}

void ServiceList::on_stand_in(const session::ClientRequest& request, const session::StreamPlan& plan) {
    for (Service* service : services_)
        service->on_stand_in(request, plan);
}

void ServiceList::on_tick() {
    for (Service* service : services_)
        service->on_tick();
}

void ServiceList::close(io::Deadline deadline) {
    for (Service* service : services_)
        if (const auto closed = service->close(deadline); !closed.ok())
            LOG_WARN(log_, "closing {}: {}", service->name(), closed.error().text());
}

void ServiceList::hand_over(io::Deadline deadline) {
    for (Service* service : services_)
        if (const auto handed = service->hand_over(deadline); !handed.ok())
            LOG_WARN(log_, "handing over {}: {}", service->name(), handed.error().text());
}

void ServiceList::stop(io::Deadline deadline) {
    for (auto at = services_.rbegin(); at != services_.rend(); ++at)
        if (const auto stopped = (*at)->stop(deadline); !stopped.ok())
            LOG_WARN(log_, "stopping {}: {}", (*at)->name(), stopped.error().text());
}

session::Protocols ServiceList::protocols() const {
    session::Protocols all;
    for (Service* service : services_)
        if (auto protocol = service->protocol())
            all.push_back(*std::move(protocol));
    return all;
}

void ServiceList::write_metrics(MetricsText& text) const {
    for (const Service* service : services_)
        service->write_metrics(text);
}

std::vector<StreamHolder*> ServiceList::memory() const {
    std::vector<StreamHolder*> holders;
    for (Service* service : services_)
        if (StreamHolder* holder = service->memory())
            holders.push_back(holder);
    return holders;
}

}  // namespace live::service
