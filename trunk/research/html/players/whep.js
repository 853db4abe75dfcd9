// The page that plays over WHEP: form, statistics, and reconnection.
import { announce, byId, setLink, setText } from '../console/lib/dom.js';
import * as format from '../console/lib/format.js';
import { sentenceOf } from './reasons.js';
import { endpointOf, Meter, prefer, Session } from './rtc.js';

const FIGURES_MS = 1000;
const RETRY_MS = 1000;
const RETRY_MS_MAX = 10_000;
// After the server has ended the session: others have been told at the same moment.
const GO_ON_MS_MAX = 300;
const CONNECT_MS_MAX = 15_000;
// Nothing was shown for so long: the publisher has gone, or sends nothing.
const SILENCE_MS_MAX = 3000;

const query = new URLSearchParams(location.search);
const video = byId('video');
const address = byId('address');
let session = null;
let meter = null;
let wanted = false;
let retryMs = RETRY_MS;
let timer = 0;
let connections = 0;
let isPlaying = false;
let shownAt = 0;

function show(kind, title, text, canPlay) {
    byId('dot').className = `dot ${kind}`;
    setText(byId('state'), title);
    byId('over').hidden = video.controls = kind === 'good';
    byId('again').hidden = !canPlay;
    byId('stop').disabled = !wanted;
    setText(byId('headline'), text);
    announce(text || title);
}

function leave() {
    clearTimeout(timer);
    isPlaying = false;
    session?.close();
    session = null;
    meter = null;
    video.srcObject = null;
}

function fail(text) {
    wanted = false;
    leave();
    show('bad', 'Cannot play', text, true);
}

function tryAgain(text) {
    if (!wanted) return;
    leave();
    show('warn', 'Interrupted', `${text} Next try in ${Math.round(retryMs / 1000)} s.`, true);
    timer = setTimeout(play, retryMs);
    retryMs = Math.min(retryMs * 2, RETRY_MS_MAX);
}

/** A stopping or draining server ends the session; the same address may lead to another server. */
function goOn() {
    leave();
    show('warn', 'Interrupted', 'The server has ended the session.', true);
    timer = setTimeout(play, Math.random() * GO_ON_MS_MAX);
}

async function play() {
    leave();
    wanted = true;
    connections++;
    show('warn', 'Connecting', 'Connecting', false);
    const connection = new RTCPeerConnection();
    const own = new Session(connection, query.get('token'));
    session = own;
    const stream = new MediaStream();
    connection.addTransceiver('audio', { direction: 'recvonly' });
    const transceiver = connection.addTransceiver('video', { direction: 'recvonly' });
    const codec = query.get('codec');
    if (codec && !prefer(transceiver, 'receive', codec.toLowerCase())) {
        fail(`This browser does not decode ${codec} over WebRTC.`);
        return;
    }
    connection.ontrack = ({ track }) => {
        stream.addTrack(track);
        if (video.srcObject !== stream) video.srcObject = stream;
    };
    connection.onconnectionstatechange = () => {
        if (session !== own) return;
        if (connection.connectionState === 'connected') {
            clearTimeout(timer);
            retryMs = RETRY_MS;
            meter = new Meter('inbound-rtp');
            show('warn', 'Waiting', 'Playback starts as soon as the stream does.', false);
        } else if (connection.connectionState === 'failed') {
            tryAgain('The connection was lost.');
        }
    };
    try {
        await own.open(address.value);
        if (session !== own) return own.close();
        own.whenEnded(() => session === own && goOn());
        timer = setTimeout(() => tryAgain('The server could not be reached by UDP or TCP.'), CONNECT_MS_MAX);
        await start();
    } catch (error) {
        if (session !== own) return;
        if (error.isFinal) fail(error.message);
        else tryAgain(sentenceOf(error));
    }
}

/** Browsers may allow only muted playback before the first click on the page. */
async function start() {
    try {
        await video.play();
    } catch (error) {
        if (error.name !== 'NotAllowedError') return;
        video.muted = true;
        byId('sound').hidden = false;
        await video.play().catch(() => {});
    }
}

function stop() {
    wanted = false;
    leave();
    show('', 'Stopped', 'Stopped', true);
}

async function showFigures() {
    const now = meter && session ? await meter.read(session.connection) : null;
    const text = (value, shown) => setText(byId(value), now ? shown(now) : '–');
    text('size', (f) => (f.width ? `${f.width}×${f.height}` : 'none'));
    text('fps', (f) => format.count(Math.round(f.framesPerSecond)));
    text('frames', (f) => format.count(f.frames));
    text('rate', (f) => format.bitrate(f.kbitsPerSecond));
    text('loss', (f) => `${(f.loss * 100).toFixed(1)} %`);
    text('rtt', (f) => (Number.isFinite(f.roundTrip) ? `${Math.round(f.roundTrip * 1000)} ms` : '–'));
    text('delay', (f) => (Number.isFinite(f.buffered) ? `${Math.round(f.buffered * 1000)} ms` : '–'));
    text('freezes', (f) => format.count(f.freezes));
    text('codecs', (f) => f.codecs || '–');
    setText(byId('connections'), format.count(connections));
    if (now && meter) followMedia(now.isMoving);
}

/** The session lasts while the publisher is away, and has media again when one is back. */
function followMedia(isMoving) {
    if (isMoving) {
        shownAt = performance.now();
        if (!isPlaying) show('good', 'Playing', '', false);
        isPlaying = true;
    } else if (isPlaying && performance.now() - shownAt > SILENCE_MS_MAX) {
        isPlaying = false;
        show('warn', 'Waiting', 'The stream has ended or pauses. Playback continues when it returns.', false);
    }
}

address.value = endpointOf('whep', query, location);
const share = new URLSearchParams(query);
share.set('autostart', 'true');
setLink(byId('share'), `whep.html?${share}`);
byId('form').addEventListener('submit', (event) => {
    event.preventDefault();
    play();
});
byId('again').addEventListener('click', play);
byId('stop').addEventListener('click', stop);
byId('sound').addEventListener('click', () => {
    video.muted = false;
    byId('sound').hidden = true;
});
addEventListener('pagehide', leave);
setInterval(showFigures, FIGURES_MS);
if (query.get('autostart') === 'true') play();
