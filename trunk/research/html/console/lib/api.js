// Finds the HTTP API of the server of this page, signs in to it and sends requests to it.
//
// Its address is, in this order: ?api=host:port of the page's address; the address in /streams.json; the page's own origin, if
// that is a port of the API; on a server without a list of streams, the default port on the page's host.
//
// The user and password, or the token, are entered in a form. They are kept for this tab and for the one address of the API that
// requested them, and are sent in the Authorization field only.

import { readSite, siteOrigin } from './site.js';

const PLAIN_PORT = 1985;
const TLS_PORT = 1990;
const ANSWER_MS_MAX = 5000;

/**
 * kind: 'off', 'loopback', 'https' (the server has no API for this browser: why), 'unreachable' (base does not answer), 'other'
 * (another server answers at base), 'password' (base wants one; scheme, isWrong), or 'refused' (the API said no).
 */
export class ApiError extends Error {
    constructor(kind, text, details = {}) {
        super(text);
        this.kind = kind;
        Object.assign(this, details);
    }
}

/** "1985", "host" or "host:port" as an origin; null when it is none. */
export function originOf(text, page = location) {
    const protocol = page.protocol === 'https:' ? 'https:' : 'http:';
    const usual = protocol === 'https:' ? TLS_PORT : PLAIN_PORT;
    const whole = /^\d{1,5}$/.test(text) ? `${page.hostname}:${text}` : text;
    if (!/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/.test(whole)) return null;
    try {
        const url = new URL(`${protocol}//${whole}`);
        if (!/:\d{1,5}$/.test(whole)) url.port = String(usual);
        return url.origin;
    } catch {
        return null;
    }
}

async function ask(address, method, authorization) {
    const answer = await fetch(address, {
        method,
        // Never the browser's own passwords, nor its prompt for one.
        credentials: 'omit',
        cache: 'no-store',
        headers: authorization ? { Authorization: authorization } : {},
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    let body = null;
    try {
        body = await answer.json();
    } catch {
        // A page of a static file server, or nothing: not the API.
    }
    return { status: answer.status, body, scheme: answer.headers.get('WWW-Authenticate') ?? 'Basic' };
}

/** { base, server, site }: the API, the id of the server it must belong to ('' when that is not known), and where streams are. */
async function findApi(page) {
    const named = new URLSearchParams(page.search).get('api');
    const asked = named && originOf(named, page);
    let site = null;
    let problem = null;
    try {
        site = await readSite('?count=1', page);
    } catch (error) {
        if (!error.kind) throw error;
        problem = error;
    }
    if (asked) return { base: asked, server: '', site: problem?.kind === 'none' ? null : siteOrigin(page) };
    if (site) {
        if (site.api?.url) return { base: new URL(site.api.url).origin, server: site.server, site: site.origin };
        throw new ApiError(site.api?.missing ?? 'off', 'The server has no API for this browser', { site: site.origin });
    }
    if (problem.kind === 'none') return { base: page.origin, server: '', site: null };
    if (problem.kind === 'off') {
        const host = page.hostname.includes(':') && !page.hostname.startsWith('[') ? `[${page.hostname}]` : page.hostname;
        return { base: originOf(host, page), server: '', site: page.origin };
    }
    throw new ApiError('unreachable', problem.message, { base: problem.origin });
}

const encoded = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

export class Api {
    #place = null;

    constructor(page = location) {
        this.page = page;
        /** Where streams and players are, once it is known; null on a port of the API. */
        this.site = null;
    }

    get #key() {
        return `millrace-api ${this.#place.base}`;
    }

    get isSignedIn() {
        return this.#place !== null && sessionStorage.getItem(this.#key) !== null;
    }

    /** For the API that asked for it; the next request shows whether it is right. */
    signIn(scheme, user, secret) {
        const value = scheme.startsWith('Bearer') ? `Bearer ${secret}` : `Basic ${encoded(`${user}:${secret}`)}`;
        sessionStorage.setItem(this.#key, value);
    }

    signOut() {
        sessionStorage.removeItem(this.#key);
    }

    async get(path) {
        return this.#call('GET', path);
    }

    async remove(path) {
        return this.#call('DELETE', path);
    }

    async put(path) {
        return this.#call('PUT', path);
    }

    async #call(method, path) {
        if (this.#place === null) {
            this.#place = await findApi(this.page);
            this.site = this.#place.site;
        }
        const { base, server } = this.#place;
        const authorization = sessionStorage.getItem(this.#key);
        let answer;
        try {
            answer = await ask(base + path, method, authorization);
        } catch {
            // The server may return at another address.
            this.#place = null;
            throw new ApiError('unreachable', `${base} does not respond`, { base });
        }
        const { status, body, scheme } = answer;
        if (status === 401) {
            if (authorization) this.signOut();
            throw new ApiError('password', 'The API requires a password', { base, scheme, isWrong: authorization !== null });
        }
        if (!body || typeof body.code !== 'number')
            throw new ApiError('refused', `${base} responds with status ${status}, and not as the API does`, { base });
        if (body.code !== 0) {
            const why = typeof body.message === 'string' ? body.message : `code ${body.code}`;
            throw new ApiError('refused', why, { base, code: body.code });
        }
        if (server && body.server !== server) {
            this.#place = null;
            throw new ApiError('other', `Another server responds at ${base}`, { base });
        }
        return body;
    }
}
