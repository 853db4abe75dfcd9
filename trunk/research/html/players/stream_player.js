// Plays a stream of this server in a page, by the best of its addresses: the video with its notices and buttons. The page has
// #video, #over, #headline, #detail, #again and #sound.
import { announce, byId, setText } from '../console/lib/dom.js';
import { addressesOf, bestOf, readSite, streamUrl } from '../console/lib/site.js';
import { formatOf } from './address.js';
import { Playback } from './playback.js';

const LOOK_AGAIN_MS = 3000;

const TITLES = { idle: 'Stopped', connecting: 'Connecting', waiting: 'Waiting', buffering: 'Buffering', retrying: 'Interrupted', failed: 'Cannot play' };

/** The entry of /streams.json, with the addresses of the stream; null when it is not live, or not shown. */
export async function findStream(stream) {
    const site = await readSite(`?stream=${encodeURIComponent(streamUrl(stream))}`);
    // A server of another version returns all.
    const found = site.streams.find((one) => streamUrl(one) === streamUrl(stream));
    return { site, found: found ?? null, addresses: found ? addressesOf(found, site.origin) : [] };
}

export class StreamPlayer {
    /** onState(state), of Playback. */
    constructor(stream, onState = () => {}) {
        this.stream = stream;
        this.onState = onState;
        this.video = byId('video');
        this.playback = new Playback(this.video, (state, text) => this.#show(state, text));
        byId('again').addEventListener('click', () => (this.playback.state === 'retrying' ? this.playback.retryNow() : this.#again()));
        this.video.addEventListener('silenced', () => (byId('sound').hidden = false));
        byId('sound').addEventListener('click', () => {
            this.video.muted = false;
            byId('sound').hidden = true;
        });
    }

    #again() {
        return this.recorded ? this.playAddress(this.recorded) : this.start();
    }

    /** Waits until the stream is live. */
    async start() {
        clearTimeout(this.timer);
        this.recorded = null;
        let addresses = [];
        try {
            ({ addresses } = await findStream(this.stream));
        } catch (error) {
            if (!error.kind) throw error;
            if (error.kind === 'off') return this.#say('This server does not list its streams', 'The player plays a stream by its address.');
            this.#say('The server does not respond', 'The page tries again.');
        }
        const playable = addresses.filter(({ url }) => formatOf(url));
        const best = bestOf(playable);
        if (best) return this.playback.start(best.url);
        if (addresses.some(({ format }) => format === 'whep'))
            this.#say('This stream plays over WebRTC', 'Open it on the WebRTC page of this server.');
        else if (addresses.length > 0)
            this.#say('A browser cannot play this stream', 'The server offers it over RTMP, SRT or RTSP only: play it with VLC or ffplay.');
        else this.#say('Not live', 'Playback starts as soon as the stream does.');
        this.timer = setTimeout(() => this.start(), LOOK_AGAIN_MS);
    }

    /** Plays another address: the stream's past, or a recording. start() returns to the live stream. */
    playAddress(address) {
        clearTimeout(this.timer);
        this.recorded = address;
        return this.playback.start(address);
    }

    #say(headline, detail) {
        byId('over').hidden = false;
        byId('again').hidden = true;
        setText(byId('headline'), headline);
        setText(byId('detail'), detail);
    }

    #show(state, text) {
        const { isOn } = this.playback;
        byId('over').hidden = this.video.controls = isOn;
        byId('again').hidden = !['retrying', 'idle', 'failed'].includes(state);
        setText(byId('again'), state === 'retrying' ? 'Try now' : 'Play');
        setText(byId('headline'), state === 'connecting' || state === 'idle' ? TITLES[state] : text);
        setText(byId('detail'), '');
        if (state !== 'buffering') announce(text || TITLES[state] || 'Playing');
        this.onState(state);
    }
}
