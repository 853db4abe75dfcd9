// The recordings on the page about a stream: their list, and the bar that takes the player back in time. The page has #library, #shift,
// #back, #back-text and #to-live.
import { byId, setText } from '../console/lib/dom.js';
import * as format from '../console/lib/format.js';
import { addressOf, readSpans, Recordings, timeshiftOf } from '../console/lib/recordings.js';
import { siteOrigin, streamUrl } from '../console/lib/site.js';

const REFRESH_MS = 10_000;
// The newest second of a recording may not be on the disk yet.
const BACK_SECONDS_MIN = 5;

export class RecordedParts {
    constructor({ api, stream, player, onChange }) {
        Object.assign(this, { api, stream, player, onChange });
        this.refreshedAt = -Infinity;
        this.recordings = new Recordings({ api, play: (span) => this.#play(span), onChange: () => this.#changed() });
        byId('library').append(this.recordings.node);
        byId('back').addEventListener('input', () => this.#describe());
        byId('back').addEventListener('change', () => this.#goBack());
        byId('to-live').addEventListener('click', () => this.#goLive());
    }

    /** Plays the recording that the page's address names (at=, seconds=). */
    playNamed() {
        const query = new URLSearchParams(location.search);
        const start = Date.parse(query.get('at') ?? '') / 1000;
        const duration = Number(query.get('seconds'));
        if (!Number.isFinite(start) || !(duration > 0)) return false;
        this.#play({ start, text: query.get('at'), duration });
        return true;
    }

    async refresh(origin, isLive) {
        this.origin = origin;
        const now = performance.now();
        if (now - this.refreshedAt < REFRESH_MS) return;
        this.refreshedAt = now;
        const spans = (await readSpans(origin, this.stream)) ?? [];
        const has = spans.length > 0;
        byId('library').hidden = !has;
        byId('shift').hidden = !has || !isLive;
        if (!has) return;
        const url = streamUrl(this.stream);
        this.recordings.show({ origin, stream: this.stream, url, spans, files: await this.#files(url) });
        const back = Math.floor(Date.now() / 1000 - spans[0].start);
        byId('back').min = String(-Math.max(back, BACK_SECONDS_MIN));
        this.#describe();
    }

    /** Of the API; null without it. */
    async #files(url) {
        try {
            return (await this.api.get(`/api/v1/recordings/files?stream=${encodeURIComponent(url)}&count=10000`)).files;
        } catch (error) {
            if (!error.kind) throw error;
            return null;
        }
    }

    #changed() {
        this.refreshedAt = -Infinity;
        this.onChange();
    }

    get #seconds() {
        return -Number(byId('back').value);
    }

    #describe() {
        const text = this.#seconds > 0 ? `${format.duration(this.#seconds)} ago` : 'Live';
        setText(byId('back-text'), text);
        byId('back').setAttribute('aria-valuetext', text);
    }

    #goBack() {
        if (this.#seconds === 0) return this.#goLive();
        const time = Date.now() / 1000 - Math.max(this.#seconds, BACK_SECONDS_MIN);
        return this.player.playAddress(timeshiftOf(this.origin, this.stream, time));
    }

    #goLive() {
        byId('back').value = '0';
        this.#describe();
        return this.player.start();
    }

    #play(span) {
        this.player.playAddress(addressOf(this.origin ?? siteOrigin(), this.stream, span, 'hls'));
        byId('video').scrollIntoView({ block: 'center' });
    }
}
