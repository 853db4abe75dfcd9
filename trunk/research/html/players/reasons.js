// Why something failed, in words that a page may show: the server's reason, or a browser's error. No DOM here.

const REASON_MS_MAX = 5000;
const REASON_LETTERS_MAX = 300;

/**
 * Another attempt gets the same answer (RFC 9110, 15.5), and would only repeat the callbacks behind it. Not so where a stream may
 * start, or a place may become free.
 */
export const isFinal = (status) => status >= 400 && status < 500 && ![404, 408, 409, 425, 429].includes(status);

/** The server's sentence in a response body; "" when there is none, as in the HTML of a proxy. */
export function sentenceIn(body) {
    let said = body;
    try {
        said = JSON.parse(body).message;
    } catch {
        // Plain text.
    }
    said = typeof said === 'string' ? said.trim() : '';
    return said.startsWith('<') ? '' : said.slice(0, REASON_LETTERS_MAX);
}

/** "The server refused: not today (HTTP 403)." */
export function refusal(status, body) {
    const said = sentenceIn(body).replace(/[.\s]+$/, '');
    return `The server refused${said ? `: ${said}` : ''} (HTTP ${status}).`;
}

/**
 * Requests an address once, for the reason that a library, a WebSocket or a <video> does not give. Returns { status, text }, or
 * null if the server does not answer, or answers with media.
 */
export async function readRefusal(address) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), REASON_MS_MAX);
    try {
        const answer = await fetch(address.replace(/^ws/i, 'http'), { cache: 'no-store', credentials: 'omit', signal: stop.signal });
        return answer.ok ? null : { status: answer.status, text: refusal(answer.status, await answer.text()) };
    } catch {
        return null;
    } finally {
        clearTimeout(timer);
        stop.abort();
    }
}

const BROWSER_ERRORS = {
    NotFoundError: 'This machine has no camera or microphone that fits.',
    NotAllowedError: 'The browser did not allow this page to use the camera, the microphone or the screen. Allow it and try again.',
    NotReadableError: 'The camera or microphone cannot be read. Another program may be using it.',
    OverconstrainedError: 'The chosen camera or microphone is missing.',
    SecurityError: 'The browser does not allow this page to use the camera or microphone.',
    AbortError: 'The browser stopped the camera or microphone.',
    TimeoutError: 'The server did not answer in time.',
};

/** A sentence for an error of the browser; those of our own have one. */
export const sentenceOf = (error) => BROWSER_ERRORS[error.name] ?? error.message;
