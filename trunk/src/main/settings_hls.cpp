#include "main/settings_hls.hpp"

#include <chrono>
#include <utility>

namespace live::main_ {

void SettingsHls::set_hooks(service::hooks::HookService& hooks, std::string folder) {
    hooks_ = &hooks;
    folder_ = std::move(folder);
}

const service::hls::HlsOptions* SettingsHls::find(const session::http::Request& request) const {
    const Vhost* vhost = settings_->find_vhost(request.vhost());
    return vhost != nullptr && vhost->enabled && vhost->hls.enabled ? &vhost->hls : nullptr;
}

void SettingsHls::on_fragment(const service::hls::FragmentNews& news) {
    const Vhost* vhost = settings_->find_vhost(news.vhost);
    if (hooks_ == nullptr || vhost == nullptr || vhost->name != news.vhost)
        return;
    const service::hooks::Fragment fragment{std::chrono::duration<double>(news.duration).count(),
                                            folder_,
                                            news.file,
                                            news.uri,
                                            news.playlist_file,
                                            news.playlist_url,
                                            news.number,
                                            vhost->hls.nb_notify};
    hooks_->tell_fragment(vhost->http_hooks, {news.publisher, news.vhost, news.stream_url}, fragment);
}

}  // namespace live::main_
