// Makes the address to play from the player's query. No DOM here.
//
//   url=        the whole address; the rest is then ignored
//   server=     host; the page's own when missing
//   app= stream= vhost=   live, livestream, none. The stream's extension is the format:
//               .flv .ts .m3u8 .mp4 .aac .mp3; none means .flv
//   schema=     http, https, ws, wss; rtmp (which no browser plays) stands for HTTP-FLV of the same stream
//   port=       the port of the schema; with rtmp it is the RTMP port, which is ignored here
//   httpPort=   the port of HTTP whatever the schema
//   autostart=true   plays at once, silently when the browser wants that
//   api= eip=   for the WebRTC pages; not used by this one
//   other names, such as token, are passed to the server

const OWN_NAMES = 'url server app stream vhost schema port httpPort autostart api eip site rtmp'.split(' ');
const STREAMING_PORTS = { http: 8080, ws: 8080, https: 8088, wss: 8088 };
const ENDINGS = { flv: 'flv', ts: 'mpegts', m3u8: 'hls', mp4: 'file', aac: 'file', mp3: 'file' };

const isPort = (text) => /^\d{1,5}$/.test(text ?? '') && Number(text) > 0 && Number(text) < 65536;

const isHost = (text) => /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)$/.test(text);

/** 'flv', 'mpegts', 'hls', 'file', or null for addresses that this page does not play. */
export function formatOf(address) {
    let url;
    try {
        url = new URL(address);
    } catch {
        return null;
    }
    if (!['http:', 'https:', 'ws:', 'wss:'].includes(url.protocol)) return null;
    const ending = /\.([A-Za-z0-9]+)$/.exec(url.pathname)?.[1]?.toLowerCase();
    // Recordings: /recordings/get?format=hls.
    const isList = url.pathname.endsWith('/get') && url.searchParams.get('format') === 'hls';
    const format = isList ? 'hls' : (ENDINGS[ending] ?? null);
    const isSocket = url.protocol.startsWith('ws');
    return isSocket && (format === 'hls' || format === 'file') ? null : format;
}

/** Returns rtmp://host[:port]/app/stream as HTTP-FLV of the same host, and any other address unchanged. */
export function playable(text, page) {
    const found = /^rtmps?:\/\/(\[[^\]]+\]|[^/:?#]+)(?::\d+)?\/([^?#]+)(\?[^#]*)?$/i.exec(text.trim());
    if (!found) return text.trim();
    const scheme = page.protocol === 'https:' ? 'https' : 'http';
    const own = found[1] === page.hostname && page.port !== '' ? page.port : STREAMING_PORTS[scheme];
    const path = found[2].split('/').map(encodeURIComponent).join('/');
    return `${scheme}://${found[1]}:${own}/${path}.flv${found[3] ?? ''}`;
}

/** query: URLSearchParams; page: a Location. */
export function addressOf(query, page) {
    const whole = query.get('url');
    if (whole) return playable(whole, page);
    const secure = page.protocol === 'https:';
    const asked = (query.get('schema') ?? '').toLowerCase();
    const isHttp = asked in STREAMING_PORTS;
    const scheme = isHttp ? asked : secure ? 'https' : 'http';
    const server = query.get('server') ?? '';
    const host = isHost(server) ? server : page.hostname;
    const ports = [query.get('httpPort'), isHttp ? query.get('port') : null].filter(isPort);
    const ownPort = page.port || (secure ? '443' : '80');
    const port = ports[0] ?? (host === page.hostname ? ownPort : String(STREAMING_PORTS[scheme]));
    const stream = query.get('stream') || 'livestream';
    const ending = stream.split('.').pop().toLowerCase();
    const name = stream.includes('.') && ending in ENDINGS ? stream : `${stream}.flv`;
    const path = `${query.get('app') || 'live'}/${name}`.split('/').filter(Boolean).map(encodeURIComponent).join('/');
    const rest = new URLSearchParams();
    const vhost = query.get('vhost');
    if (vhost && vhost !== '__defaultVhost__' && vhost !== host) rest.set('vhost', vhost);
    for (const [key, value] of query) if (!OWN_NAMES.includes(key)) rest.append(key, value);
    const tail = rest.toString();
    // The usual port of a scheme is left out by URL.
    return new URL(`${scheme}://${host}:${port}/${path}${tail && `?${tail}`}`).href;
}

/** Returns the address of the same stream over 'flv', 'ws-flv' or 'hls', or null for an address of another form. */
export function variant(address, way) {
    const format = formatOf(address);
    if (format !== 'flv' && format !== 'hls' && format !== 'mpegts') return null;
    const url = new URL(address);
    const secure = url.protocol === 'https:' || url.protocol === 'wss:';
    const scheme = way === 'ws-flv' ? (secure ? 'wss:' : 'ws:') : secure ? 'https:' : 'http:';
    const path = url.pathname.replace(/\.[A-Za-z0-9]+$/, way === 'hls' ? '.m3u8' : '.flv');
    return `${scheme}//${url.host}${path}${url.search}`;
}
