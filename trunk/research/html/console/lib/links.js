// Addresses of a stream, made of what the API says. Names are strangers' text: path segments are encoded, ports are digits or
// ignored.

const RTMP_PORT = 1935;
const STREAMING_PORT = 8080;
const STREAMING_TLS_PORT = 8088;
export const DEFAULT_VHOST = '__defaultVhost__';

const encodePath = (path) => path.split('/').filter(Boolean).map(encodeURIComponent).join('/');

const bracketed = (host) => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);

/** "host:port" as the part of an address, or null. */
function hostAndPort(text) {
    return text && /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/.test(text) ? text : null;
}

/**
 * The origin that serves streams and players: this page's, except on the port of the API, which serves the console only. There it
 * is ?site=host:port, or this host with the usual port.
 */
export async function findSite(page = location) {
    const asked = hostAndPort(new URLSearchParams(page.search).get('site'));
    if (asked) return `${page.protocol}//${asked}`;
    try {
        const options = { method: 'HEAD', credentials: 'omit', signal: AbortSignal.timeout(3000) };
        const answer = await fetch(new URL('/players/srs_player.html', page.origin), options);
        // The API answers everything it does not know with its index, as JSON.
        if (answer.ok && (answer.headers.get('content-type') || '').startsWith('text/html')) return page.origin;
    } catch {
        // Not here.
    }
    return `${page.protocol}//${bracketed(page.hostname)}:${page.protocol === 'https:' ? STREAMING_TLS_PORT : STREAMING_PORT}`;
}

/** The RTMP port: ?rtmp=, else where the publisher came in, else the usual one. */
export function rtmpPort(stream, page = location) {
    const asked = new URLSearchParams(page.search).get('rtmp');
    if (asked && /^\d{1,5}$/.test(asked)) return Number(asked);
    const found = /^rtmp:\/\/(?:\[[^\]]*\]|[^/:?#]*):(\d{1,5})(?=[/?#]|$)/.exec(String(stream?.tcUrl ?? ''));
    return found ? Number(found[1]) : RTMP_PORT;
}

/** Where a publisher pushes to: server part and stream key, as OBS asks for them. */
export function rtmpServer(app, stream, page = location) {
    const port = rtmpPort(stream, page);
    return `rtmp://${bracketed(page.hostname)}${port === RTMP_PORT ? '' : `:${port}`}/${app}`;
}

/** All addresses of one stream. vhost is the vhost's name, "" for the default one. */
export function streamLinks(stream, vhost, site, page = location) {
    const query = vhost && vhost !== DEFAULT_VHOST ? `?vhost=${encodeURIComponent(vhost)}` : '';
    const path = `${site}/${encodePath(`${stream.app}/${stream.name}`)}`;
    const player = (extension) => {
        const values = { app: stream.app, stream: stream.name + extension, autostart: 'true' };
        if (query) values.vhost = vhost;
        return `${site}/players/srs_player.html?${new URLSearchParams(values)}`;
    };
    return {
        // RTMP clients take their address as it is written; nothing there decodes.
        rtmp: `${rtmpServer(stream.app, stream, page)}/${stream.name}${query && `?vhost=${vhost}`}`,
        flv: `${path}.flv${query}`,
        hls: `${path}.m3u8${query}`,
        player: player('.flv'),
        hlsPlayer: player('.m3u8'),
    };
}
