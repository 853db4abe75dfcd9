// Addresses that the console makes from the API's data about a stream. Names come from strangers and are encoded.

import { DEFAULT_VHOST } from './site.js';

const STREAMING_PORT = 8080;
const STREAMING_TLS_PORT = 8088;

const bracketed = (host) => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);

/** Where streams and players usually are, for a page that came from a port of the API. */
export function usualSite(page = location) {
    return `${page.protocol}//${bracketed(page.hostname)}:${page.protocol === 'https:' ? STREAMING_TLS_PORT : STREAMING_PORT}`;
}

/** The page that plays a stream. `vhost` is the virtual host's name, "" for the default one. */
export function playerLink(stream, vhost, site) {
    const values = { app: stream.app, stream: `${stream.name}.flv`, autostart: 'true' };
    if (vhost && vhost !== DEFAULT_VHOST) values.vhost = vhost;
    return `${site}/players/srs_player.html?${new URLSearchParams(values)}`;
}
