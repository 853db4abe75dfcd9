#include "settings/hls.hpp"

#include <chrono>

namespace live::settings {

void HlsFragments::on_fragment(const service::hls::FragmentNews& news) {
    const Vhost* vhost = settings_->find_vhost(news.vhost);
    if (vhost == nullptr || vhost->name != news.vhost)
        return;
    const service::hooks::Fragment fragment{std::chrono::duration<double>(news.duration).count(),
                                            folder_,
                                            news.file,
                                            news.uri,
                                            news.playlist_file,
                                            news.playlist_url,
                                            news.number,
                                            vhost->hls.nb_notify};
    hooks_.tell_fragment(vhost->http_hooks, {news.publisher, news.vhost, news.stream_url}, fragment);
}

}  // namespace live::settings
