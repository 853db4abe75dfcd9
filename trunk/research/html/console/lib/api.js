// Finds the HTTP API and asks it.
//
// Where it is: ?api=host:port of the page's address; else the page's own origin, when the API answers there; else the page's host
// with the usual port of the API. An API that wants a password is asked with the browser's own prompt, which works on its own
// origin only.

const PLAIN_PORT = 1985;
const TLS_PORT = 1990;
const ANSWER_MS_MAX = 5000;

/** kind: 'unreachable', 'password' (base says who wants it), or 'refused' (the API said no). */
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

/** The origins to try, in order, each once. */
export function candidates(page = location) {
    const asked = new URLSearchParams(page.search).get('api');
    const named = asked && originOf(asked, page);
    if (named) return [named];
    const found = [];
    if (page.protocol === 'http:' || page.protocol === 'https:') found.push(page.origin);
    const usual = originOf(
        page.hostname.includes(':') && !page.hostname.startsWith('[') ? `[${page.hostname}]` : page.hostname,
        page,
    );
    if (usual && usual !== page.origin) found.push(usual);
    return found;
}

async function ask(address, method, credentials, limit = ANSWER_MS_MAX) {
    const signal = limit === null ? undefined : AbortSignal.timeout(limit);
    const answer = await fetch(address, { method, credentials, cache: 'no-store', signal });
    let body = null;
    try {
        body = await answer.json();
    } catch {
        // A page of a static file server, or nothing: not the API.
    }
    return { status: answer.status, body };
}

export class Api {
    /**
     * asksAtOnce: a password is asked for as soon as the API wants one; else only after signIn(). onPrompt(): the browser may
     * ask now.
     */
    constructor({ asksAtOnce = false, onPrompt = () => {} } = {}) {
        this.asksAtOnce = asksAtOnce;
        this.onPrompt = onPrompt;
        this.base = null;
        this.credentials = 'omit';
        this.isPrompting = false;
        this.tried = [];
    }

    /** The next request may make the browser ask for a password. */
    signIn() {
        this.asksAtOnce = true;
        this.base = null;
    }

    async get(path) {
        return this.#call('GET', path);
    }

    async remove(path) {
        return this.#call('DELETE', path);
    }

    async #call(method, path) {
        if (this.base === null) await this.#find();
        let answer;
        try {
            // Somebody who types a password takes their time.
            answer = await ask(this.base + path, method, this.credentials, this.isPrompting ? null : ANSWER_MS_MAX);
        } catch {
            const gone = this.base;
            this.base = null;
            throw new ApiError('unreachable', `${gone} does not answer`, { tried: [gone] });
        }
        this.isPrompting = false;
        if (answer.status === 401) {
            const base = this.base;
            this.base = null;
            throw new ApiError('password', 'The API wants a user name and a password', { base, own: base === location.origin });
        }
        if (!answer.body || typeof answer.body.code !== 'number')
            throw new ApiError('refused', `The API answers ${answer.status} and no JSON`);
        if (answer.body.code !== 0) {
            const why = typeof answer.body.message === 'string' ? answer.body.message : `code ${answer.body.code}`;
            throw new ApiError('refused', why, { code: answer.body.code });
        }
        return answer.body;
    }

    // Without credentials first: a prompt from a port that is not the API's would only confuse.
    async #find() {
        this.tried = candidates();
        let locked = null;
        for (const base of this.tried) {
            let answer;
            try {
                answer = await ask(`${base}/api/v1/streams/?count=10`, 'GET', 'omit');
            } catch {
                continue;
            }
            if (answer.status === 401) locked = base;
            else if (answer.body && Array.isArray(answer.body.streams)) {
                this.base = base;
                this.credentials = 'omit';
                return;
            }
        }
        // The streaming port protects its /api/ too, so the later one, which is the API's own, is the one to ask.
        if (locked === null) throw new ApiError('unreachable', 'The API does not answer', { tried: this.tried });
        if (locked !== location.origin || !this.asksAtOnce)
            throw new ApiError('password', 'The API wants a user name and a password', {
                base: locked,
                own: locked === location.origin,
            });
        this.base = locked;
        this.credentials = 'same-origin';
        this.isPrompting = true;
        this.onPrompt();
    }
}
