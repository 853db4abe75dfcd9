// Keeps a live stream playing: starts an engine, monitors it, restarts it with growing pauses when the stream ends, and keeps
// playback near the live edge.
import { formatOf } from './address.js';
import { createEngine, EngineError } from './engines.js';

const PAUSE_MS_FIRST = 1000;
const PAUSE_MS_MAX = 15_000;
const STEADY_MS = 10_000; // after playing for this long, the next pause is the first one again
const WAITING_MS = 2500; // connected without data for this long: there is no publisher
const SILENCE_MS_MAX = 20_000; // without data for this long after playing: the connection is dead
const FRUITLESS_MS_MAX = 20_000; // data without a frame for this long; a key frame may be ten seconds away
const TICK_MS = 500;

/** The target distance to the newest media, in seconds; null: no catch-up. */
export const DELAYS = { low: 0.6, normal: 1.5, steady: null };

export class Playback {
    /**
     * onState(state, text, retryAt): state is idle, connecting, waiting, playing, buffering, retrying (until retryAt, in
     * milliseconds of performance.now()) or failed.
     */
    constructor(video, onState) {
        this.video = video;
        this.onState = onState;
        this.delay = 'normal';
        this.state = 'idle';
        this.engine = null;
        this.attempt = 0;
        this.generation = 0;
        video.addEventListener('playing', () => this.#onPlaying());
        video.addEventListener('waiting', () => this.state === 'playing' && this.#change('buffering', ''));
        setInterval(() => this.#tick(), TICK_MS);
    }

    /** A frame is shown, possibly a still one. */
    get isOn() {
        return this.state === 'playing' || this.state === 'buffering';
    }

    async start(address) {
        this.stop();
        this.address = address;
        this.attempt = 0;
        await this.#connect();
    }

    stop() {
        this.#drop();
        this.address = null;
        this.#change('idle', '');
    }

    /** Reconnects at once instead of after the pause. */
    async retryNow() {
        if (this.state === 'retrying') await this.#connect();
    }

    figures() {
        const { video } = this;
        const quality = video.getVideoPlaybackQuality?.();
        const ahead = this.#ahead();
        const more = this.engine?.figures() ?? {};
        return {
            frames: quality?.totalVideoFrames ?? 0,
            dropped: quality?.droppedVideoFrames ?? 0,
            width: video.videoWidth,
            height: video.videoHeight,
            buffer: ahead,
            latency: more.latency ?? ahead,
            codecs: more.codecs,
            kbytesPerSecond: more.kbytesPerSecond,
        };
    }

    #change(state, text, retryAt) {
        if (this.state === state && this.text === text) return;
        this.state = state;
        this.text = text;
        this.onState(state, text, retryAt);
    }

    #drop() {
        clearTimeout(this.timer);
        this.generation++;
        this.engine?.stop();
        this.engine = null;
        this.video.playbackRate = 1;
    }

    async #connect() {
        this.#drop();
        const mine = this.generation;
        const format = formatOf(this.address);
        if (!format) {
            this.#change(
                'failed',
                'This page plays http(s) and ws(s) addresses that end in .flv, .ts, .m3u8, .mp4, .aac or .mp3.',
            );
            return;
        }
        this.startedAt = performance.now();
        this.dataAt = 0;
        this.dataSince = 0;
        this.playingSince = 0;
        this.note = '';
        this.#change('connecting', 'Connecting');
        const on = {
            data: () => mine === this.generation && this.#onData(),
            note: (text) => (this.note = text),
            end: (text) => mine === this.generation && this.#retry(text),
            fail: (text) => mine === this.generation && this.#fail(text),
        };
        try {
            const engine = await createEngine(format, { video: this.video, address: this.address, on });
            // Stopped or restarted while a library was loading.
            if (mine !== this.generation) return engine.stop();
            this.engine = engine;
        } catch (error) {
            if (!(error instanceof EngineError)) throw error;
            if (mine === this.generation) this.#fail(error.message);
            return;
        }
        this.#play();
    }

    // Browsers start audio only after a click on the page; without one, plays muted.
    #play() {
        const { video } = this;
        video.play().catch((error) => {
            if (error.name !== 'NotAllowedError' || video.muted) return;
            video.muted = true;
            video.dispatchEvent(new Event('silenced'));
            video.play().catch(() => {});
        });
    }

    #fail(text) {
        this.#drop();
        this.#change('failed', text);
    }

    #retry(text) {
        this.#drop();
        const full = Math.min(PAUSE_MS_MAX, PAUSE_MS_FIRST * 2 ** this.attempt);
        this.attempt++;
        // Viewers must not all reconnect at the same moment when a publisher returns.
        const pause = full * (0.8 + 0.4 * Math.random());
        this.#change('retrying', text, performance.now() + pause);
        this.timer = setTimeout(() => this.#connect(), pause);
    }

    #onData() {
        this.dataAt = performance.now();
        this.dataSince ||= this.dataAt;
    }

    #onPlaying() {
        if (!this.engine || this.state === 'failed') return;
        if (!this.playingSince) this.playingSince = performance.now();
        this.#change('playing', '');
    }

    #ahead() {
        const { buffered, currentTime } = this.video;
        return buffered.length ? Math.max(0, buffered.end(buffered.length - 1) - currentTime) : undefined;
    }

    #tick() {
        if (!this.engine) return;
        const now = performance.now();
        if (this.state === 'connecting' && !this.dataAt && now - this.startedAt > WAITING_MS)
            this.#change('waiting', 'Connected. Waiting for the publisher.');
        if (!this.isOn && this.dataSince && now - this.dataSince > FRUITLESS_MS_MAX && !this.video.paused)
            this.#retry(`Media arrives, but no frame can be shown. ${this.note}`);
        const silence = this.engine.silence();
        if (this.state === 'buffering' && silence && this.dataAt && now - this.dataAt > silence) {
            // The playlist continues as soon as the publisher returns.
            this.dataSince = 0;
            this.#change('waiting', 'The stream has ended or pauses.');
        }
        if (!this.isOn) return;
        if (now - this.playingSince > STEADY_MS) this.attempt = 0;
        if (this.dataAt && now - this.dataAt > SILENCE_MS_MAX && !this.video.paused && this.video.duration === Infinity)
            this.#retry(`No data for ${SILENCE_MS_MAX / 1000} s.`);
        else this.#chase();
    }

    // Plays slightly faster to reduce the distance, and jumps over a large one. HLS controls its distance itself.
    #chase() {
        const { video } = this;
        const target = DELAYS[this.delay];
        const format = formatOf(this.address);
        if (video.paused || (format !== 'flv' && format !== 'mpegts')) return;
        const ahead = this.#ahead();
        if (target === null || ahead === undefined) {
            video.playbackRate = 1;
        } else if (ahead > target + 4) {
            video.currentTime += ahead - target;
            video.playbackRate = 1;
        } else if (ahead > target + 0.6) {
            video.playbackRate = 1.1;
        } else if (ahead < target * 0.4 && video.playbackRate <= 1) {
            // A join without a cached group of pictures starts with next to nothing; a little slower gives a cushion.
            video.playbackRate = 0.96;
        } else if (video.playbackRate > 1 ? ahead < target : ahead > target * 0.6) {
            video.playbackRate = 1;
        }
    }
}
