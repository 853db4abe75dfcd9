// Uploads: the uploads of recordings, and what they ask of the library, answered from it.
#pragma once

#include <functional>
#include <string>

#include "base/log/log.hpp"
#include "service/admission/callback_policy.hpp"
#include "service/http_client/http_client.hpp"
#include "service/recordings/recordings_service.hpp"
#include "service/upload/push_service.hpp"
#include "service/upload/upload_service.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class Uploads final : private service::upload::UploadLibrary {
public:
    // All must outlive this.
    struct Shared {
        const settings::CurrentSettings& settings;
        const service::http_client::HttpClient& http;
        service::recordings::RecordingsService& recordings;
        service::recordings::RecordingsService::Roots roots;
        service::admission::CallbackPolicy& callbacks;
        bool is_first_worker = true;
    };
    Uploads(Shared shared, const Log& log);

    service::upload::UploadService& service() { return service_; }
    // Pushes of live HLS and DASH.
    service::upload::PushService& pushes() { return pushes_; }
    // A recording is complete.
    void add(const service::recordings::RecordingEvent& event);

private:
    bool is_complete() const override { return shared_.recordings.is_complete(); }
    void for_each(std::size_t skip, const std::function<bool(const service::upload::LocalFile&)>& each) const override;
    Result<bool> remove(const service::upload::LocalFile& file, io::Deadline deadline) override;
    void on_upload(const service::upload::LocalFile& file, const service::upload::Uploaded& uploaded) override;
    std::string name_of(const std::string& vhost, const std::string& path) const;

    const Shared shared_;
    service::upload::UploadService service_;
    service::upload::PushService pushes_;
};

}  // namespace live::app
