#include "settings/conf/legacy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace live::settings {

namespace {

using config::Directive;
using config::Loading;

// The first block of that name, appended when there is none.
Directive& block_of(Directive& around, std::string_view name, const config::Place& at) {
    if (Directive* found = around.find(name); found != nullptr && found->is_block)
        return *found;
    around.children.push_back({std::string(name), at, {}, true, {}});
    return around.children.back();
}

void put(Directive& block, Directive directive) {
    if (block.find(directive.name) == nullptr)
        block.children.push_back(std::move(directive));
}

Directive made(std::string_view name, std::string_view value, const config::Place& at) {
    return {std::string(name), at, {{std::string(value), at}}, false, {}};
}

void warn_old(Loading& loading, const Directive& old, std::string_view today) {
    loading.warn(old.at, fmt::format("\"{}\" is an old form of {}", old.name, today));
}

void warn_dropped(Loading& loading, const Directive& old) {
    loading.warn(old.at, fmt::format("\"{}\" is an old form and has no effect any more", old.name));
}

// Removes the directives for which `is_old` holds from the block, in order.
template <class IsOld>
std::vector<Directive> taken_out(Directive& block, IsOld is_old) {
    const auto first_old = std::stable_partition(block.children.begin(), block.children.end(),
                                                 [&](const Directive& child) { return !is_old(child); });
    std::vector<Directive> old(std::make_move_iterator(first_old), std::make_move_iterator(block.children.end()));
    block.children.erase(first_old, block.children.end());
    return old;
}

template <std::size_t Count>
bool is_one_of(std::string_view name, const std::array<std::string_view, Count>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void drop(Directive& block, std::string_view name, Loading& loading) {
    for (const Directive& old : taken_out(block, [&](const Directive& child) { return child.name == name; }))
        warn_dropped(loading, old);
}

// Renames an old directive of a block.
void rename(Directive& block, std::string_view from, std::string_view to, Loading& loading) {
    for (Directive& old : taken_out(block, [&](const Directive& child) { return child.name == from; })) {
        warn_old(loading, old, fmt::format("\"{}\"", to));
        old.name = to;
        put(block, std::move(old));
    }
}

// Directives that moved from vhost {} into one of its blocks under the same names.
template <std::size_t Count>
void move_into(Directive& vhost, std::string_view block, const std::array<std::string_view, Count>& names, Loading& loading) {
    for (Directive& old :
         taken_out(vhost, [&](const Directive& child) { return !child.is_block && is_one_of(child.name, names); })) {
        warn_old(loading, old, fmt::format("\"{} {{ {}; }}\"", block, old.name));
        Directive& target = block_of(vhost, block, old.at);
        put(target, std::move(old));
    }
}

struct Renamed {
    std::string_view from;
    std::string_view to;
};

// A block of vhost {} whose entries moved into another block: mr, nack, twcc.
template <std::size_t Count>
void merge_block(Directive& vhost, std::string_view from, std::string_view into, const std::array<Renamed, Count>& names,
                 Loading& loading) {
    for (Directive& old : taken_out(vhost, [&](const Directive& child) { return child.name == from && child.is_block; })) {
        warn_old(loading, old, fmt::format("an entry of \"{}\"", into));
        Directive& target = block_of(vhost, into, old.at);
        for (Directive& entry : old.children) {
            for (const Renamed& name : names) {
                if (entry.name == name.from)
                    entry.name = name.to;
            }
            // An entry with another name is left for the rows to refuse.
            put(target, std::move(entry));
        }
    }
}

void rewrite_refer(Directive& vhost, Loading& loading) {
    static constexpr std::array<Renamed, 3> kNames = {{{"refer", "all"}, {"refer_play", "play"}, {"refer_publish", "publish"}}};
    for (const Renamed& name : kNames) {
        for (Directive& old :
             taken_out(vhost, [&](const Directive& child) { return child.name == name.from && !child.is_block; })) {
            warn_old(loading, old, fmt::format("\"refer {{ enabled on; {} ...; }}\"", name.to));
            Directive& refer = block_of(vhost, "refer", old.at);
            put(refer, made("enabled", "on", old.at));
            old.name = name.to;
            put(refer, std::move(old));
        }
    }
}

void rewrite_forward(Directive& vhost, Loading& loading) {
    for (Directive& old : taken_out(vhost, [](const Directive& child) { return child.name == "forward" && !child.is_block; })) {
        warn_old(loading, old, "\"forward { enabled on; destination ...; }\"");
        Directive& forward = block_of(vhost, "forward", old.at);
        put(forward, made("enabled", "on", old.at));
        old.name = "destination";
        put(forward, std::move(old));
    }
}

// aac and bframe were words before they became switches.
void rewrite_rtc(Directive& rtc, Loading& loading) {
    struct Word {
        std::string_view name, on_word, today;
    };
    static constexpr std::array<Word, 2> kWords = {{{"aac", "transcode", "rtmp_to_rtc"}, {"bframe", "keep", "keep_bframe"}}};
    for (const Word& word : kWords) {
        for (const Directive& old : taken_out(rtc, [&](const Directive& child) { return child.name == word.name; })) {
            warn_old(loading, old, fmt::format("\"{}\"", word.today));
            put(rtc, made(word.today, old.arg(0) == word.on_word ? "on" : "off", old.at));
        }
    }
}

void rewrite_vhost(Directive& vhost, Loading& loading) {
    static constexpr std::array<std::string_view, 10> kPlay = {
        "gop_cache", "gop_cache_max_frames", "queue_length",      "time_jitter",           "mix_correct", "atc",
        "atc_auto",  "mw_latency",           "send_min_interval", "reduce_sequence_header"};
    static constexpr std::array<std::string_view, 5> kCluster = {"mode", "origin", "token_traverse", "vhost", "debug_srs_upnode"};
    static constexpr std::array<Renamed, 2> kMergedRead = {{{"enabled", "mr"}, {"latency", "mr_latency"}}};
    static constexpr std::array<Renamed, 2> kNack = {{{"enabled", "nack"}, {"no_copy", "nack_no_copy"}}};
    static constexpr std::array<Renamed, 1> kTwcc = {{{"enabled", "twcc"}}};
    static constexpr std::array<Renamed, 2> kTimeouts = {
        {{"publish_1stpkt_timeout", "firstpkt_timeout"}, {"publish_normal_timeout", "normal_timeout"}}};

    rename(vhost, "http", "http_static", loading);
    drop(vhost, "bandcheck", loading);
    rewrite_refer(vhost, loading);
    merge_block(vhost, "mr", "publish", kMergedRead, loading);
    for (const Renamed& name : kTimeouts) {
        for (Directive& old : taken_out(vhost, [&](const Directive& child) { return child.name == name.from; })) {
            warn_old(loading, old, fmt::format("\"publish {{ {}; }}\"", name.to));
            old.name = name.to;
            put(block_of(vhost, "publish", old.at), std::move(old));
        }
    }
    move_into(vhost, "play", kPlay, loading);
    rewrite_forward(vhost, loading);
    move_into(vhost, "cluster", kCluster, loading);
    merge_block(vhost, "nack", "rtc", kNack, loading);
    merge_block(vhost, "twcc", "rtc", kTwcc, loading);
    if (Directive* rtc = vhost.find("rtc"); rtc != nullptr)
        rewrite_rtc(*rtc, loading);
    for (Directive& child : vhost.children) {
        if (child.name == "http_remux")
            drop(child, "hstrs", loading);
        if (child.name != "hls")
            continue;
        drop(child, "hls_storage", loading);
        drop(child, "hls_mount", loading);
    }
}

void rewrite_caster(Directive& caster, Loading& loading) {
    static constexpr std::array<std::string_view, 6> kGone = {"audio_enable",  "rtp_port_min",     "rtp_port_max",
                                                              "wait_keyframe", "rtp_idle_timeout", "auto_create_channel"};
    static constexpr std::array<std::string_view, 7> kSipGone = {
        "serial", "realm", "ack_timeout", "keepalive_timeout", "auto_play", "invite_port_fixed", "query_catalog_interval"};
    for (const std::string_view name : kGone)
        drop(caster, name, loading);
    for (Directive& old : taken_out(caster, [](const Directive& child) { return child.name == "host"; })) {
        warn_old(loading, old, "\"sip { candidate; }\"");
        old.name = "candidate";
        put(block_of(caster, "sip", old.at), std::move(old));
    }
    if (Directive* sip = caster.find("sip"); sip != nullptr) {
        for (const std::string_view name : kSipGone)
            drop(*sip, name, loading);
    }
}

}  // namespace

void rewrite_legacy(Directive& root, Loading& loading) {
    rename(root, "http_stream", "http_server", loading);
    drop(root, "proxy", loading);
    for (Directive& child : root.children) {
        if (child.name == "vhost")
            rewrite_vhost(child, loading);
        else if (child.name == "stream_caster")
            rewrite_caster(child, loading);
        else if (child.name == "srt_server")
            rename(child, "tlpkdrop", "tlpktdrop", loading);
        else if (child.name == "rtc_server") {
            drop(child, "perf_stat", loading);
            drop(child, "queue_length", loading);
        }
    }
}

}  // namespace live::settings
