// The reason of a failure as a text for a page: the server's reason, or a browser's error. No DOM here.

const REASON_MS_MAX = 5000;
const REASON_LETTERS_MAX = 300;

/**
 * Whether another attempt would get the same response (RFC 9110, 15.5) and only repeat its callbacks. Not for statuses that
 * change when a stream starts or a connection becomes free.
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
    // If a callback refuses, the page shows the words of the operator's service.
    const said = sentenceIn(body)
        .replace(/[.\s]+$/, '')
        .replace(/^refused by the callback(?:: (.+))? \(code [^()]*\)$/, '$1');
    return `The server refused${said ? `: ${said}` : ''} (HTTP ${status}).`;
}

/**
 * Requests an address once, to read the reason of a refusal that a library, a WebSocket or a <video> does not report. Returns
 * { status, text }, or null if the server does not respond, or responds with media.
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
    NotFoundError: 'This machine has no suitable camera or microphone.',
    NotAllowedError: 'The browser did not allow this page to use the camera, the microphone or the screen. Allow it and try again.',
    NotReadableError: 'The camera or microphone cannot be read. Another program may be using it.',
    OverconstrainedError: 'The chosen camera or microphone is missing.',
    SecurityError: 'The browser does not allow this page to use the camera or microphone.',
    AbortError: 'The browser stopped the camera or microphone.',
    TimeoutError: 'The server did not respond in time.',
};

/** Returns a sentence for a browser's error, or the message of our own errors. */
export const sentenceOf = (error) => BROWSER_ERRORS[error.name] ?? error.message;
