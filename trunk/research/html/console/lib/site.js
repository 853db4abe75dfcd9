// Requests the streams and the address of the API from the server of this page: one request, /streams.json on the streaming port.
//
// The server is the one that sent the page; ?site=host:port selects another one, for pages hosted on another server.

const ANSWER_MS_MAX = 5000;

/** kind: 'unreachable', 'off' (the server does not list its streams) or 'none' (no such list there: a port of the API). */
export class SiteError extends Error {
    constructor(kind, text, origin) {
        super(text);
        this.kind = kind;
        this.origin = origin;
    }
}

/** "host:port" as the part of an address, or null. */
function hostAndPort(text) {
    return text && /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/.test(text) ? text : null;
}

export function siteOrigin(page = location) {
    const asked = hostAndPort(new URLSearchParams(page.search).get('site'));
    return asked ? `${page.protocol}//${asked}` : page.origin;
}

/** Returns the response, with `origin`. Throws SiteError. */
export async function readSite(query = '', page = location) {
    const origin = siteOrigin(page);
    let answer;
    let body = null;
    try {
        const options = { credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS_MAX) };
        answer = await fetch(`${origin}/streams.json${query}`, options);
        body = await answer.json();
    } catch {
        if (!answer) throw new SiteError('unreachable', `${origin} does not respond`, origin);
    }
    if (answer.ok && Array.isArray(body?.streams)) return { ...body, origin };
    if (answer.status === 404 && body?.code === 404) throw new SiteError('off', String(body.message), origin);
    throw new SiteError('none', `${origin} responds with status ${answer.status} and no list of streams`, origin);
}

/**
 * An address of the list as this page reaches it: over HTTP by the way that the list itself came, whatever a proxy has made of
 * the host. Null when it is no address.
 */
export function reachable(address, origin) {
    let url;
    try {
        url = new URL(address);
    } catch {
        return null;
    }
    if (['rtmp:', 'rtmps:', 'srt:', 'rtsp:', 'rtsps:'].includes(url.protocol)) return address;
    if (!['http:', 'https:', 'ws:', 'wss:'].includes(url.protocol)) return null;
    const base = url.protocol.startsWith('ws') ? origin.replace(/^http/, 'ws') : origin;
    return `${base}${url.pathname}${url.search}`;
}

export const DEFAULT_VHOST = '__defaultVhost__';

const collator = new Intl.Collator(undefined, { numeric: true });

/** The order of streams: the default virtual host first, then by name, cam2 before cam10. */
export function byName(a, b) {
    const keys = ({ vhost, app, name }) => [vhost === DEFAULT_VHOST ? '' : String(vhost), String(app), String(name)];
    const [left, right] = [keys(a), keys(b)];
    return left.map((key, at) => collator.compare(key, right[at])).find((order) => order !== 0) ?? 0;
}

/** What people call the formats, in the order in which they are shown. */
export const FORMATS = {
    rtmp: 'RTMP',
    rtmps: 'RTMPS',
    srt: 'SRT',
    rtsp: 'RTSP',
    rtsps: 'RTSPS',
    flv: 'HTTP-FLV',
    ts: 'HTTP-TS',
    aac: 'HTTP-AAC',
    mp3: 'HTTP-MP3',
    hls: 'HLS',
    'll-hls': 'LL-HLS',
    dash: 'DASH',
    whep: 'WHEP',
    'ws-flv': 'WS-FLV',
    'ws-ts': 'WS-TS',
};

const PLAYER_FORMATS = ['flv', 'll-hls', 'hls', 'ts', 'aac', 'mp3'];

/** The page that plays an address of that format; null when no page of ours does. */
export function playerOf(format, address, origin) {
    if (format === 'whep') {
        const { searchParams } = new URL(address);
        return `${origin}/players/whep.html?${searchParams}&autostart=true`;
    }
    if (!PLAYER_FORMATS.includes(format)) return null;
    return `${origin}/players/srs_player.html?${new URLSearchParams({ url: address, autostart: 'true' })}`;
}

/** The addresses of a stream of the list: [{ format, name, url, player }], in the order of FORMATS. */
export function addressesOf(stream, origin) {
    const order = Object.keys(FORMATS);
    return (Array.isArray(stream.formats) ? stream.formats : [])
        .filter(({ format }) => order.includes(format))
        .map(({ format, url }) => ({ format, name: FORMATS[format], url: reachable(String(url), origin) }))
        .filter(({ url }) => url !== null)
        .sort((a, b) => order.indexOf(a.format) - order.indexOf(b.format))
        .map((one) => ({ ...one, player: playerOf(one.format, one.url, origin) }));
}

/** The one that a browser plays best; undefined when it plays none. */
export function bestOf(addresses) {
    const order = [...PLAYER_FORMATS, 'whep'];
    return addresses.filter(({ player }) => player).sort((a, b) => order.indexOf(a.format) - order.indexOf(b.format))[0];
}

/** [vhost]/app/stream, by which the server names a stream. */
export const streamUrl = ({ vhost, app, name }) => `${vhost && vhost !== DEFAULT_VHOST ? vhost : ''}/${app}/${name}`;

function streamQuery({ vhost, app, name }) {
    const values = { app, stream: name };
    if (vhost && vhost !== DEFAULT_VHOST) values.vhost = vhost;
    return new URLSearchParams(values);
}

/** The page about a stream. */
export const streamPage = (stream, origin) => `${origin}/players/stream.html?${streamQuery(stream)}`;

/** A page that has the player alone, for frames of other pages. */
export const embedPage = (stream, origin) => `${origin}/players/embed.html?${streamQuery(stream)}`;

/** A small image of a stream. */
export function thumbnailOf({ vhost, app, name }, origin) {
    const path = `${app}/${name}`.split('/').map(encodeURIComponent).join('/');
    const query = vhost && vhost !== DEFAULT_VHOST ? `?${new URLSearchParams({ vhost })}` : '';
    return `${origin}/api/v1/thumbnail/${path}.jpg${query}`;
}
