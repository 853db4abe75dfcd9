#include "app/vhosts/hls_fragments.hpp"

#include <chrono>

namespace live::app {

namespace {

using settings::Vhost;

}  // namespace

void HlsFragments::on_fragment(const service::hls::FragmentEvent& event) {
    const Vhost* vhost = settings_->find_vhost(event.vhost);
    if (vhost == nullptr || vhost->name != event.vhost)
        return;
    const service::hooks::Fragment fragment{std::chrono::duration<double>(event.duration).count(),
                                            folder_,
                                            event.file,
                                            event.uri,
                                            event.playlist_file,
                                            event.playlist_url,
                                            event.number,
                                            vhost->hls.nb_notify};
    hooks_.report_fragment(vhost->http_hooks, {event.publisher, event.vhost, event.stream_url}, fragment);
}

}  // namespace live::app
