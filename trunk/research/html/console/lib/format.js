// Formats numbers for people. Every function returns plain text; a value that is not a finite number becomes a dash.

const NONE = '–';

// Making one takes longer than hundreds of uses.
const rounders = [0, 1, 2].map((digits) => new Intl.NumberFormat(undefined, { maximumFractionDigits: digits }));

function rounded(value, digits) {
    return rounders[digits].format(value);
}

function scaled(value, step, units) {
    let at = 0;
    while (at < units.length - 1 && Math.abs(value) >= step * 0.9995) {
        value /= step;
        at++;
    }
    return `${rounded(value, at === 0 || Math.abs(value) >= 100 ? 0 : 1)} ${units[at]}`;
}

export const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

const counter = new Intl.NumberFormat();

export const count = (value) => (isNumber(value) ? counter.format(value) : NONE);

/** bits in thousands a second */
export const bitrate = (kbps) => (isNumber(kbps) ? scaled(kbps, 1000, ['kbps', 'Mbps', 'Gbps']) : NONE);

// The server computes rates every few seconds: until then a client has none.
const MEASURED_SECONDS = 5;

/** The kbps of a client of the API; null while they are unknown. */
export function rateOf({ publish, kbps, alive }) {
    const rate = publish ? kbps?.recv_30s : kbps?.send_30s;
    return rate > 0 || alive >= MEASURED_SECONDS ? rate : null;
}

export const bytes = (value) => (isNumber(value) ? scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']) : NONE);

/** 0..1 */
export const percent = (share) => (isNumber(share) ? `${rounded(share * 100, share < 0.0995 ? 1 : 0)} %` : NONE);

export const seconds = (value, digits = 1) => (isNumber(value) ? `${rounded(value, digits)} s` : NONE);

/** seconds as 42 s, 3 min 5 s, 2 h 10 min, 3 d 4 h */
export function duration(value) {
    if (!isNumber(value)) return NONE;
    const s = Math.max(0, Math.floor(value));
    if (s < 60) return `${s} s`;
    if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
    if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
    return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

function codec(track) {
    const profile = typeof track.profile === 'string' && track.profile && track.profile !== 'Other' ? ` ${track.profile}` : '';
    return `${track.codec}${profile}`;
}

/** "H264 High, 768×320, 25 fps" of a stream as the API gives it; "" when it has no video. */
export function video({ video, fps }) {
    if (!video) return '';
    const size = video.width > 0 && video.height > 0 ? `${video.width}×${video.height}` : '';
    const rate = isNumber(fps) && fps > 0 ? `${Math.round(fps)} fps` : '';
    return [codec(video), size, rate].filter(Boolean).join(', ');
}

/** "AAC LC, 44.1 kHz stereo" */
export function audio({ audio }) {
    if (!audio) return '';
    const channels = audio.channel === 1 ? ' mono' : audio.channel === 2 ? ' stereo' : '';
    return [codec(audio), isNumber(audio.sample_rate) ? `${rounded(audio.sample_rate / 1000, 1)} kHz${channels}` : '']
        .filter(Boolean)
        .join(', ');
}

/** What people call the players, by their types in the API. */
const PLAYERS = { 'rtmp-play': 'RTMP', 'flv-play': 'HTTP', 'hls-play': 'HLS', 'rtc-play': 'WebRTC', 'srt-play': 'SRT', 'rtsp-play': 'RTSP' };

export const playerName = (type) => PLAYERS[type] ?? String(type).replace(/-play$/, '');

/** [{ type, count }] of the API, with names, the most frequent first. Anything else is left out. */
export function viewersByProtocol(viewers) {
    return (Array.isArray(viewers) ? viewers : [])
        .filter(({ count: number }) => isNumber(number) && number > 0)
        .map(({ type, count: number }) => ({ name: playerName(type), count: number }))
        .sort((a, b) => b.count - a.count);
}

/** "5 (3 HLS, 2 RTMP)", "2 (HLS)", "0" */
export function viewers(list) {
    const all = viewersByProtocol(list);
    const total = count(all.reduce((sum, one) => sum + one.count, 0));
    if (all.length === 0) return total;
    return `${total} (${all.length === 1 ? all[0].name : all.map((one) => `${count(one.count)} ${one.name}`).join(', ')})`;
}

/** The time of day of a number of seconds since 1970. */
export const time = (value) => (isNumber(value) ? new Date(value * 1000).toLocaleTimeString() : NONE);
