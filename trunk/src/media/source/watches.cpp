#include "media/source/watches.hpp"

namespace live::media {

void StreamWatches::add(StreamWatch& watch) {
    watch.index_ = watches_.size();
    watches_.push_back(&watch);
}

void StreamWatches::remove(StreamWatch& watch) {
    watches_[watch.index_] = watches_.back();
    watches_[watch.index_]->index_ = watch.index_;
    watches_.pop_back();
}

void StreamWatches::notify_publisher_began() const {
    for (StreamWatch* watch : watches_)
        watch->on_publisher_began();
}

void StreamWatches::notify_publisher_left() const {
    for (StreamWatch* watch : watches_)
        watch->on_publisher_left();
}

void StreamWatches::notify_publisher_confirmed() const {
    for (StreamWatch* watch : watches_)
        watch->on_publisher_confirmed();
}

void StreamWatches::notify_watched(bool watched) const {
    for (StreamWatch* watch : watches_)
        watch->on_watched(watched);
}

}  // namespace live::media
