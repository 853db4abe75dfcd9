// WHIP and WHEP from a browser: the address, the offer and its answer, the end. No DOM here.
//
// The query of both pages:
//   url=        the whole address of the WHIP or WHEP endpoint; what follows is then ignored
//   app= stream= vhost=   live, livestream, none
//   api=        host:port of the server; the page's own when missing. A port alone, as in old links, is ignored: the
//               request goes to the server of the page
//   server= port=         the same in two parts
//   schema=     http or https of that address
//   token=      sent as a bearer token
//   codec=      h264, vp8, vp9, av1 or hevc: the only one to be offered
//   autostart=true        starts at once
//   other names are passed to the server: eip, secret

import { isFinal, refusal } from './reasons.js';

const OWN_NAMES = 'url app stream vhost api server port schema token codec autostart site rtmp httpPort'.split(' ');

const isHost = (text) => /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/.test(text ?? '');

/** kind: 'whip' or 'whep'; query: URLSearchParams; page: a Location. */
export function endpointOf(kind, query, page) {
    const whole = query.get('url');
    if (whole) return whole;
    const server = query.get('server');
    const port = query.get('port');
    const api = /^\d+$/.test(query.get('api') ?? '') ? null : query.get('api');
    const named = api ?? (server ? `${server}${port ? `:${port}` : ''}` : null);
    const scheme = ['http', 'https'].includes(query.get('schema')) ? query.get('schema') : page.protocol.replace(':', '');
    const url = new URL(`/rtc/v1/${kind}/`, isHost(named) ? `${scheme}://${named}` : page.origin);
    url.searchParams.set('app', query.get('app') || 'live');
    url.searchParams.set('stream', query.get('stream') || 'livestream');
    for (const [name, value] of query) if (!OWN_NAMES.includes(name)) url.searchParams.append(name, value);
    if (query.get('vhost')) url.searchParams.set('vhost', query.get('vhost'));
    return url.href;
}

/** Offers only this codec and its repair formats. Returns false when the browser does not support it. */
export function prefer(transceiver, kind, name) {
    const all = (kind === 'send' ? RTCRtpSender : RTCRtpReceiver).getCapabilities('video')?.codecs ?? [];
    const wanted = { hevc: 'h265', avc: 'h264' }[name] ?? name;
    const helpers = ['video/rtx', 'video/red', 'video/ulpfec', 'video/flexfec-03'];
    const chosen = all.filter((codec) => codec.mimeType.toLowerCase() === `video/${wanted}`);
    if (!chosen.length) return false;
    transceiver.setCodecPreferences([...chosen, ...all.filter((codec) => helpers.includes(codec.mimeType.toLowerCase()))]);
    return true;
}

/** Requests stereo audio, which Opus does not send by default (RFC 7587, 7). */
export function withStereo(sdp) {
    const opus = /a=rtpmap:(\d+) opus\/48000/i.exec(sdp)?.[1];
    return opus ? sdp.replace(new RegExp(`(a=fmtp:${opus} (?!.*stereo=1)[^\r\n]*)`), '$1;stereo=1') : sdp;
}

/** The server's response is not a session. */
export class Refused extends Error {
    constructor(status, body) {
        super(refusal(status, body));
        this.isFinal = isFinal(status);
    }
}

/** As fetch(), with a message for its TypeError, which reports every network failure without one. */
async function request(endpoint, options) {
    try {
        return await fetch(endpoint, options);
    } catch (error) {
        if (error.name !== 'TypeError') throw error;
        throw new Error(URL.canParse(endpoint) ? `${new URL(endpoint).host} does not respond.` : 'This is not an address.');
    }
}

/** One session: its connection and its address at the server. */
export class Session {
    #address = null;
    #token;

    constructor(connection, token) {
        this.connection = connection;
        this.#token = token;
    }

    #headers(more) {
        return this.#token ? { ...more, Authorization: `Bearer ${this.#token}` } : more;
    }

    /** Throws an Error whose message may be shown. */
    async open(endpoint) {
        const offer = await this.connection.createOffer();
        await this.connection.setLocalDescription({ type: 'offer', sdp: withStereo(offer.sdp) });
        // Does not wait for candidates: the server learns this client's address from its connectivity checks.
        const answer = await request(endpoint, {
            method: 'POST',
            headers: this.#headers({ 'Content-Type': 'application/sdp' }),
            body: this.connection.localDescription.sdp,
            credentials: 'omit',
            signal: AbortSignal.timeout(40_000),
        });
        if (answer.status !== 201) throw new Refused(answer.status, await answer.text());
        const location = answer.headers.get('Location');
        this.#address = location ? new URL(location, endpoint).href : null;
        await this.connection.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
    }

    /** A server ends a session by DTLS (close_notify), long before a silent connection counts as failed. */
    whenEnded(handler) {
        const [first] = this.connection.getTransceivers();
        const transport = first?.receiver.transport ?? first?.sender.transport;
        transport?.addEventListener('statechange', () => transport.state === 'closed' && handler());
    }

    /** Also used when the page is closed. */
    close() {
        this.connection.close();
        if (!this.#address) return;
        fetch(this.#address, { method: 'DELETE', headers: this.#headers({}), keepalive: true, credentials: 'omit' }).catch(() => {});
        this.#address = null;
    }
}

/** Figures of one direction ('inbound-rtp' or 'outbound-rtp'), as differences from one call to the next. */
export class Meter {
    #last = null;

    constructor(type) {
        this.type = type;
    }

    async read(connection) {
        const all = [...(await connection.getStats()).values()];
        const streams = all.filter((one) => one.type === this.type);
        const video = streams.find((one) => one.kind === 'video' && (one.frameWidth || one.bytesReceived || one.bytesSent));
        const audio = streams.find((one) => one.kind === 'audio');
        const pair = all.find((one) => one.type === 'candidate-pair' && one.nominated && one.state === 'succeeded');
        const remote = all.filter((one) => one.type === 'remote-inbound-rtp');
        const bytes = streams.reduce((sum, one) => sum + (one.bytesReceived ?? one.bytesSent ?? 0), 0);
        const packets = streams.reduce((sum, one) => sum + (one.packetsReceived ?? one.packetsSent ?? 0), 0);
        const lost = (this.type === 'inbound-rtp' ? streams : remote).reduce((sum, one) => sum + Math.max(0, one.packetsLost ?? 0), 0);
        const now = performance.now();
        const waited = video ?? audio;
        const figures = {
            at: now,
            bytes,
            packets,
            lost,
            frames: video?.framesDecoded ?? video?.framesEncoded ?? 0,
            buffered: waited?.jitterBufferDelay ?? 0,
            emitted: waited?.jitterBufferEmittedCount ?? 0,
        };
        const before = this.#last ?? figures;
        this.#last = figures;
        const seconds = Math.max((now - before.at) / 1000, 0.001);
        const moved = packets - before.packets;
        const gone = lost - before.lost;
        const codec = (stream) => all.find((one) => one.id === stream?.codecId)?.mimeType?.split('/')[1] ?? '';
        const emitted = figures.emitted - before.emitted;
        return {
            // Since the last call. Packets of video before a key frame show nothing.
            isMoving: video ? figures.frames > before.frames : moved > 0,
            kbitsPerSecond: ((bytes - before.bytes) * 8) / 1000 / seconds,
            framesPerSecond: (figures.frames - before.frames) / seconds,
            frames: figures.frames,
            width: video?.frameWidth ?? 0,
            height: video?.frameHeight ?? 0,
            loss: moved + gone > 0 ? Math.max(0, gone) / (moved + gone) : 0,
            lost,
            roundTrip: pair?.currentRoundTripTime ?? NaN,
            // Seconds from the arrival of a frame until it is decoded: a part of the latency.
            buffered: emitted > 0 ? (figures.buffered - before.buffered) / emitted : NaN,
            freezes: video?.freezeCount ?? 0,
            keyFrameRequests: video?.pliCount ?? 0,
            limited: video?.qualityLimitationReason ?? 'none',
            codecs: [codec(video), codec(audio)].filter(Boolean).join(', '),
        };
    }
}
