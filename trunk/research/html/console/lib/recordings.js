// The recordings of one stream: a timeline with its gaps, and a list of the spans to play, download, pin and delete. Spans and media
// come from the port of the page; pins and deletion need the API. The page has the dialog #ask-delete with #delete-text.
import { announce, byId, element, setText, showList } from './dom.js';
import * as format from './format.js';
import { DEFAULT_VHOST, streamPage, streamUrl } from './site.js';

const SPANS_SHOWN_MAX = 100;

const seconds = (text) => Date.parse(text) / 1000;
const when = (time) => new Date(time * 1000).toLocaleString();

/** path= and vhost= of a stream. */
function queryOf(stream, more = {}) {
    const query = new URLSearchParams({ path: `${stream.app}/${stream.name}`, ...more });
    if (stream.vhost !== DEFAULT_VHOST) query.set('vhost', stream.vhost);
    return query;
}

/** The spans of a stream, oldest first; [] without any, null when this server does not play recordings. */
export async function readSpans(origin, stream) {
    const query = queryOf(stream);
    let answer;
    try {
        answer = await fetch(`${origin}/recordings/list?${query}`, { cache: 'no-store', credentials: 'omit' });
    } catch {
        return null;
    }
    if (!answer.headers.get('Content-Type')?.includes('json')) return null;
    if (!answer.ok) return [];
    const spans = await answer.json();
    if (!Array.isArray(spans)) return null;
    return spans.map((span) => ({ start: seconds(span.start), text: span.start, duration: span.duration }));
}

const GAP_SECONDS_MAX = 0.5;

/** The spans of files of the API. */
export function spansOf(files) {
    const spans = [];
    for (const file of files) {
        const start = seconds(file.start);
        const last = spans.at(-1);
        if (last && Math.abs(start - last.start - last.duration) <= GAP_SECONDS_MAX)
            last.duration = Math.max(last.duration, start + file.duration - last.start);
        else if (file.duration > 0) spans.push({ start, text: file.start, duration: file.duration });
    }
    return spans;
}

/** The address of a span as a file (mp4, fmp4) or as a playlist (hls). */
export function addressOf(origin, stream, span, kind) {
    const query = queryOf(stream, { start: span.text, duration: span.duration.toFixed(6), format: kind });
    return `${origin}/recordings/get?${query}`;
}

/** The page that plays a span. */
export const recordingPage = (origin, stream, span) =>
    `${streamPage(stream, origin)}&${new URLSearchParams({ at: span.text, seconds: span.duration.toFixed(6) })}`;

/** A live stream from a time on, in seconds since 1970. */
export function timeshiftOf(origin, stream, time) {
    const query = new URLSearchParams({ start: new Date(time * 1000).toISOString() });
    if (stream.vhost !== DEFAULT_VHOST) query.set('vhost', stream.vhost);
    const path = [...stream.app.split('/'), stream.name].map(encodeURIComponent).join('/');
    return `${origin}/${path}.m3u8?${query}`;
}

/** A bar of the recorded time, with its gaps. `choose(time)` is called for a click on it. */
export class Timeline {
    constructor(choose) {
        this.bar = element('div', { class: 'timeline', role: 'img', 'aria-label': 'Nothing is recorded' });
        this.from = element('span');
        this.to = element('span');
        this.node = element('div', {}, this.bar, element('p', { class: 'muted small ends' }, this.from, this.to));
        this.bar.addEventListener('click', (event) => {
            const { left, width } = this.bar.getBoundingClientRect();
            if (width > 0) choose(this.start + ((event.clientX - left) / width) * this.length);
        });
    }

    show(spans) {
        this.start = spans[0].start;
        const end = Math.max(...spans.map((span) => span.start + span.duration));
        this.length = Math.max(end - this.start, 1);
        const gaps = spans.length === 1 ? 'no gap' : `${format.count(spans.length - 1)} ${spans.length === 2 ? 'gap' : 'gaps'}`;
        this.bar.setAttribute('aria-label', `Recorded from ${when(this.start)} to ${when(end)}, with ${gaps}`);
        setText(this.from, when(this.start));
        setText(this.to, when(end));
        showList(
            this.bar,
            spans,
            (span) => span.text,
            () => element('span'),
            (piece, span) => {
                piece.style.left = `${((span.start - this.start) / this.length) * 100}%`;
                piece.style.width = `${(span.duration / this.length) * 100}%`;
            },
        );
    }
}

function confirmed(text) {
    const dialog = byId('ask-delete');
    setText(byId('delete-text'), text);
    dialog.returnValue = 'no';
    dialog.showModal();
    return new Promise((resolve) => dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true }));
}

export class Recordings {
    /** `play(span)` shows a span. Both change without the API: `api` is null. */
    constructor({ api, play, onChange }) {
        this.api = api;
        this.play = play;
        this.onChange = onChange;
        this.timeline = new Timeline((time) => {
            const span = this.spans.find((one) => time >= one.start && time < one.start + one.duration);
            if (span) play({ ...span, text: new Date(time * 1000).toISOString(), start: time, duration: span.start + span.duration - time });
        });
        this.list = element('ul', { class: 'events spans' });
        this.more = element('p', { class: 'muted small' });
        this.node = element('div', { class: 'stack' }, this.timeline.node, this.list, this.more);
        this.spans = [];
        this.canChange = false;
    }

    /** `files`: those of the API, null without it. */
    show({ origin, stream, url, spans, files }) {
        Object.assign(this, { origin, stream, url, spans });
        this.canChange = files !== null;
        this.timeline.show(spans);
        const shown = spans.slice(-SPANS_SHOWN_MAX).reverse();
        setText(this.more, spans.length > shown.length ? `The newest ${shown.length} of ${format.count(spans.length)} spans are listed.` : '');
        showList(
            this.list,
            shown,
            (span) => span.text,
            (span) => this.#row(span),
            (row, span) => this.#fill(row, span, files),
        );
    }

    #row(span) {
        const name = when(span.start);
        const current = () => this.spans.find((one) => one.text === span.text) ?? span;
        const button = (text, act, kind = 'little') =>
            element('button', { type: 'button', class: kind, 'aria-label': `${text} ${name}`, onclick: act }, text);
        return element(
            'li',
            {},
            element('span', { class: 'what' }),
            element(
                'span',
                { class: 'acts' },
                button('Play', () => this.play(current())),
                element('a', { class: 'button little', download: '', 'aria-label': `Download ${name}` }, 'Download'),
                button('Pin', () => this.#pin(current())),
                button('Delete', () => this.#remove(current())),
            ),
        );
    }

    #fill(row, span, files) {
        const mine = this.#filesOf(span, files ?? []);
        const size = mine.reduce((sum, file) => sum + file.bytes, 0);
        const isOpen = mine.some((file) => file.recording);
        const isPinned = mine.length > 0 && mine.every((file) => file.pinned);
        const [what, acts] = row.children;
        setText(
            what,
            [when(span.start), format.duration(span.duration), files ? format.bytes(size) : '', isOpen ? 'recording' : '', isPinned ? 'pinned' : '']
                .filter(Boolean)
                .join(', '),
        );
        const [, download, pin, remove] = acts.children;
        download.href = addressOf(this.origin, this.stream, span, 'mp4');
        pin.hidden = remove.hidden = !this.canChange;
        pin.dataset.pinned = isPinned ? 'yes' : '';
        setText(pin, isPinned ? 'Unpin' : 'Pin');
        pin.setAttribute('aria-label', `${pin.textContent} ${when(span.start)}`);
        remove.disabled = isPinned || (isOpen && mine.length === 1);
    }

    #filesOf(span, files) {
        return files.filter(({ start }) => seconds(start) >= span.start - 0.001 && seconds(start) < span.start + span.duration);
    }

    #query(span) {
        const end = new Date((span.start + span.duration) * 1000).toISOString();
        return new URLSearchParams({ stream: this.url, begin: span.text, end });
    }

    async #change(work, done) {
        try {
            const { data } = await work();
            announce(done(data));
            setText(byId('recordings-note'), done(data));
        } catch (error) {
            if (!error.kind) throw error;
            announce(error.message);
            setText(byId('recordings-note'), error.message);
        }
        this.onChange();
    }

    async #pin(span) {
        const row = [...this.list.children].find(({ dataset }) => dataset.key === span.text);
        const isPinned = row?.querySelector('[data-pinned=yes]') !== null;
        const path = `/api/v1/recordings/pin?${this.#query(span)}`;
        await this.#change(
            () => (isPinned ? this.api.remove(path) : this.api.put(path)),
            ({ changed }) => `${format.count(changed)} ${changed === 1 ? 'file' : 'files'} ${isPinned ? 'released' : 'pinned'}`,
        );
    }

    async #remove(span) {
        if (!(await confirmed(`The recording of ${when(span.start)}, ${format.duration(span.duration)}. Pinned files and the one in progress stay.`))) return;
        await this.#change(
            () => this.api.remove(`/api/v1/recordings/files?${this.#query(span)}`),
            ({ changed, kept }) => `${format.count(changed)} deleted, ${format.count(kept)} kept`,
        );
    }
}

/** A closed line of a list of streams, which asks for the recordings of its stream when it is opened. Their pins and deletion are on the stream's page. */
export function createRecorded(stream, origin) {
    const note = element('p', { class: 'muted small' });
    const change = element('p', { class: 'small' }, element('a', { href: streamPage(stream, origin) }, `Pin or delete recordings of ${stream.name}`));
    const recordings = new Recordings({ api: null, play: (span) => location.assign(recordingPage(origin, stream, span)), onChange: () => {} });
    const details = element('details', { class: 'recorded' }, element('summary', {}, 'Recordings'), note, recordings.node, change);
    const show = (spans) => {
        setText(note, spans === null ? 'This server does not play recordings.' : spans.length === 0 ? 'Nothing is recorded.' : '');
        recordings.node.hidden = change.hidden = !spans?.length;
        if (spans?.length) recordings.show({ origin, stream, url: streamUrl(stream), spans, files: null });
    };
    details.addEventListener('toggle', async () => details.open && show(await readSpans(origin, stream)));
    return details;
}
