// The recordings of the console: the disk, and for each stream a timeline, with its spans to play, download, pin and delete.
import { byId, element, setText, showList } from './lib/dom.js';
import * as format from './lib/format.js';
import { recordingPage, Recordings, spansOf } from './lib/recordings.js';
import { DEFAULT_VHOST } from './lib/site.js';

const STREAMS_MAX = 200;
const HOUR_SECONDS = 3600;

function diskText({ free_bytes: free, growth_bytes_per_second: growth, full_in_seconds: fullIn }) {
    return [
        format.isNumber(free) ? `${format.bytes(free)} free` : '',
        growth > 0 ? `${format.bytes(growth * HOUR_SECONDS)} an hour` : '',
        format.isNumber(fullIn) ? `full in ${format.duration(fullIn)}` : '',
    ]
        .filter(Boolean)
        .join(', ');
}

export class RecordedStreams {
    constructor(api) {
        this.api = api;
        this.opened = new Map(); // Recordings by the stream's URL
    }

    /** `get` is a request that returns {} where the server has no such part. `site` is where media is. */
    async refresh(get, site) {
        const [list, disk] = await Promise.all([get(`/api/v1/recordings?count=${STREAMS_MAX}`), get('/api/v1/recordings/disk')]);
        const streams = list.recordings ?? [];
        byId('recorded').hidden = streams.length === 0;
        setText(byId('recorded-disk'), diskText(disk.data ?? {}));
        const isPart = list.total > streams.length;
        setText(byId('recorded-part'), isPart ? `The first ${format.count(streams.length)} of ${format.count(list.total)} streams are shown.` : '');
        showList(
            byId('recorded-list'),
            streams,
            (one) => one.stream_url,
            (one) => this.#create(one, site),
            (row, one) => {
                const facts = [format.duration(one.duration), format.bytes(one.bytes), `${format.count(one.files)} ${one.files === 1 ? 'file' : 'files'}`];
                if (one.pinned > 0) facts.push(`${format.count(one.pinned)} pinned`);
                if (one.recording) facts.push('recording');
                setText(row.querySelector('.facts-text'), facts.join(', '));
            },
        );
    }

    #create(one, site) {
        const details = element(
            'details',
            {},
            element('summary', {}, element('strong', {}, one.stream_url), ' ', element('span', { class: 'muted facts-text' })),
        );
        details.addEventListener('toggle', () => details.open && this.#load(details, one, site));
        return element('li', {}, details);
    }

    async #load(details, one, site) {
        const stream = { vhost: one.vhost || DEFAULT_VHOST, app: one.app, name: one.stream };
        const url = one.stream_url;
        let shown = this.opened.get(url);
        if (!shown) {
            shown = new Recordings({
                api: this.api,
                play: (span) => window.open(recordingPage(site, stream, span), '_blank', 'noopener'),
                onChange: () => this.#load(details, one, site),
            });
            this.opened.set(url, shown);
        }
        if (!details.contains(shown.node)) details.append(shown.node);
        let files = [];
        try {
            ({ files } = await this.api.get(`/api/v1/recordings/files?stream=${encodeURIComponent(url)}&count=10000`));
        } catch (error) {
            if (!error.kind) throw error;
            setText(byId('recordings-note'), error.message);
        }
        const spans = spansOf(files);
        shown.node.hidden = spans.length === 0;
        if (spans.length > 0) shown.show({ origin: site, stream, url, spans, files });
    }
}
