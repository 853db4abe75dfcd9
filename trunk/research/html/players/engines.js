// One engine for each way to bring media into a <video>. All have the same shape:
//
//   const engine = await createEngine(format, { video, address, on });    throws EngineError
//   engine.figures()    { kbytesPerSecond, latency, codecs }, each possibly undefined
//   engine.silence()    milliseconds without media after which a live stream has ended or pauses; undefined where on.end() reports it
//   engine.stop()       releases everything
//
// on.data() is called when media arrives, on.end(text) when the stream ended or the connection broke, on.fail(text) when another
// attempt cannot succeed, on.note(text) when a part of the media is not supported and the rest plays.

import { isFinal, readRefusal, refusal } from './reasons.js';

const LIBRARIES = {
    mpegts: { file: 'mpegts.js', name: 'mpegts.js' },
    Hls: { file: 'hls.js', name: 'hls.js' },
};
// Segments of HLS without a new one, after which the stream has ended; at least so many milliseconds.
const MISSING_SEGMENTS = 3;
const MISSING_MS = 6000;
const HLS_TYPE = 'application/vnd.apple.mpegurl';

export class EngineError extends Error {}

const loading = new Map();

/** Loads a library once. The error names a missing one and how to get it. */
function library(global) {
    const { file, name } = LIBRARIES[global];
    if (!loading.has(global)) {
        loading.set(
            global,
            new Promise((resolve, reject) => {
                const script = document.createElement('script');
                script.src = new URL(`js/${file}`, import.meta.url).href;
                script.onload = () => (window[global] ? resolve(window[global]) : script.onerror());
                script.onerror = () => {
                    script.remove();
                    loading.delete(global);
                    reject(
                        new EngineError(
                            `The library ${name} is missing on this server (players/js/${file}). ` +
                                'It is copied there by the build when npm is installed: install npm, then run make again.',
                        ),
                    );
                };
                document.head.append(script);
            }),
        );
    }
    return loading.get(global);
}

/** Reports a failed request: for good, if the server refused it. */
function reportStatus(on, status, text, otherwise) {
    if (isFinal(status)) on.fail(text);
    else on.end(otherwise);
}

/** The same, for failures whose reason only another request shows. */
async function reportFailure(on, address, otherwise) {
    const refused = await readRefusal(address);
    reportStatus(on, refused?.status ?? 0, refused?.text, refused?.text ?? otherwise);
}

async function flvEngine(type, { video, address, on }) {
    const mpegts = await library('mpegts');
    if (!mpegts.isSupported())
        throw new EngineError('This browser has no Media Source Extensions, so it cannot play FLV or TS. HLS may work.');
    mpegts.LoggingControl.applyConfig({ enableAll: false });
    const source = { type: type === 'flv' ? 'flv' : 'mpegts', isLive: true, url: address };
    // A stash buffer would add delay; played media is dropped after half a minute.
    const player = mpegts.createPlayer(source, {
        enableStashBuffer: false,
        lazyLoad: false,
        deferLoadAfterSourceOpen: false,
        autoCleanupSourceBuffer: true,
        autoCleanupMaxBackwardDuration: 60,
        autoCleanupMinBackwardDuration: 30,
    });
    let rate;
    let codecs;
    let hasData = false;
    const isSocket = /^wss?:/i.test(address);
    const data = () => {
        hasData = true;
        on.data();
    };
    player.on(mpegts.Events.STATISTICS_INFO, (info) => {
        rate = info.speed;
        if (info.speed > 0) data();
    });
    player.on(mpegts.Events.MEDIA_INFO, (info) => {
        codecs = [info.videoCodec, info.audioCodec].filter(Boolean).join(', ');
        data();
    });
    // The library calls this in the middle of its own work and must not be destroyed there.
    const later = (report) => setTimeout(report);
    let hasFailed = false; // a WebSocket that fails is also reported as complete
    player.on(mpegts.Events.LOADING_COMPLETE, () => later(() => hasFailed || on.end('The stream ended.')));
    player.on(mpegts.Events.ERROR, (kind, detail, info) => {
        hasFailed ||= kind === mpegts.ErrorTypes.NETWORK_ERROR;
        const text = typeof info === 'string' ? info : (info?.msg ?? detail);
        if (kind === mpegts.ErrorTypes.NETWORK_ERROR) {
            const status = info?.code > 0 ? ` (HTTP ${info.code})` : '';
            // A WebSocket does not give the status of its handshake.
            if (isFinal(info?.code) || (isSocket && !hasData)) later(() => reportFailure(on, address, `The connection failed${status}.`));
            else if (info?.code === 404) later(() => on.end('The stream does not exist (HTTP 404).'));
            else if (detail === 'Exception' && info?.code === undefined && !isSocket)
                later(() => on.end(`The library mpegts.js failed: ${text}`));
            else later(() => on.end(`The connection failed${status}.`));
        } else if (detail === mpegts.ErrorDetails.MEDIA_CODEC_UNSUPPORTED || /addSourceBuffer|not supported/i.test(text)) {
            const codec = /codecs=["']?([\w.,]+)/.exec(text)?.[1];
            later(() => on.fail(`This browser cannot decode the codec of this stream${codec ? ` (${codec})` : ''}.`));
        } else if (detail === mpegts.ErrorDetails.MEDIA_MSE_ERROR) {
            later(() => on.end(`The media could not be played: ${text}`));
        } else {
            on.note(text);
        }
    });
    player.attachMediaElement(video);
    player.load();
    return {
        figures: () => ({ kbytesPerSecond: rate, codecs }),
        silence: () => undefined,
        stop: () => player.destroy(),
    };
}

/** The text of a failed XMLHttpRequest; one for a segment has none. */
function bodyOf(request) {
    return request?.responseType === '' || request?.responseType === 'text' ? request.responseText : '';
}

async function hlsEngine({ video, address, on }) {
    const canNatively = video.canPlayType(HLS_TYPE) !== '';
    let Hls = null;
    try {
        Hls = await library('Hls');
    } catch (error) {
        if (!canNatively) throw error;
    }
    if (!Hls?.isSupported()) {
        if (canNatively) return fileEngine({ video, address, on });
        throw new EngineError('This browser can play HLS neither by itself nor by Media Source Extensions.');
    }
    // Plays faster while it is further behind than the playlist's target and has more than a second in its buffer.
    const hls = new Hls({ lowLatencyMode: true, maxLiveSyncPlaybackRate: 1.2, backBufferLength: 30, enableWorker: true });
    let rate;
    let bytes = 0;
    let since = performance.now();
    hls.on(Hls.Events.FRAG_LOADED, (_, { frag }) => {
        bytes += frag.stats?.loaded ?? 0;
        on.data();
        const took = (performance.now() - since) / 1000;
        if (took < 3) return;
        rate = bytes / 1024 / took;
        bytes = 0;
        since = performance.now();
    });
    let repaired = 0;
    hls.on(Hls.Events.ERROR, (_, data) => {
        if (!data.fatal) return;
        if (data.type === Hls.ErrorTypes.NETWORK_ERROR) {
            const status = data.response?.code;
            const failed = `The connection failed${status > 0 ? ` (HTTP ${status})` : ''}.`;
            reportStatus(
                on,
                status,
                refusal(status, bodyOf(data.networkDetails)),
                status === 404 ? 'There is no playlist yet (HTTP 404).' : failed,
            );
        } else if (
            data.details === Hls.ErrorDetails.MANIFEST_INCOMPATIBLE_CODECS_ERROR ||
            data.details === Hls.ErrorDetails.BUFFER_ADD_CODEC_ERROR
        ) {
            on.fail('This browser cannot decode the codec of this stream.');
        } else if (data.type === Hls.ErrorTypes.MEDIA_ERROR && repaired++ < 2) {
            hls.recoverMediaError();
        } else {
            on.end(`The media could not be played: ${data.details}.`);
        }
    });
    let missing;
    hls.on(Hls.Events.LEVEL_UPDATED, (_, { details }) => {
        missing = details.live ? Math.max(MISSING_MS, MISSING_SEGMENTS * 1000 * details.targetduration) : undefined;
    });
    hls.loadSource(address);
    hls.attachMedia(video);
    return {
        figures: () => {
            const level = hls.levels?.[hls.currentLevel];
            const codecs = level ? [level.videoCodec, level.audioCodec].filter(Boolean).join(', ') : undefined;
            return { kbytesPerSecond: rate, latency: hls.latency > 0 ? hls.latency : undefined, codecs };
        },
        silence: () => missing,
        stop: () => hls.destroy(),
    };
}

/** For formats that the browser plays by itself: files, audio streams, and HLS in some browsers. */
function fileEngine({ video, address, on }) {
    const failed = () => {
        const code = video.error?.code;
        if (code === MediaError.MEDIA_ERR_SRC_NOT_SUPPORTED)
            reportFailure(on, address, 'This browser cannot play this address.');
        else if (code === MediaError.MEDIA_ERR_DECODE) on.end('The media could not be decoded.');
        else on.end('The connection failed.');
    };
    const ended = () => on.end('The stream ended.');
    const progress = () => on.data();
    video.addEventListener('error', failed);
    video.addEventListener('ended', ended);
    video.addEventListener('progress', progress);
    video.src = address;
    video.load();
    return {
        figures: () => ({}),
        silence: () => undefined,
        stop: () => {
            video.removeEventListener('error', failed);
            video.removeEventListener('ended', ended);
            video.removeEventListener('progress', progress);
            video.removeAttribute('src');
            video.load();
        },
    };
}

export async function createEngine(format, parts) {
    if (format === 'flv' || format === 'mpegts') return flvEngine(format, parts);
    if (format === 'hls') return hlsEngine(parts);
    return fileEngine(parts);
}
