// The page that publishes over WHIP: camera or screen, devices, codec, and statistics.
import { announce, byId, element, setText } from '../console/lib/dom.js';
import * as format from '../console/lib/format.js';
import { sentenceOf } from './reasons.js';
import { endpointOf, Meter, prefer, Session } from './rtc.js';

const FIGURES_MS = 1000;
const CONNECT_MS_MAX = 15_000;

const query = new URLSearchParams(location.search);
const video = byId('video');
const address = byId('address');
let session = null;
let meter = null;
let media = null;
let timer = 0;

function show(kind, title, text) {
    byId('dot').className = `dot ${kind}`;
    setText(byId('state'), title);
    setText(byId('headline'), text);
    byId('over').hidden = media !== null && kind !== 'bad';
    byId('publish').disabled = session !== null;
    byId('stop').disabled = session === null;
    announce(text || title);
}

function leave() {
    clearTimeout(timer);
    session?.close();
    session = null;
    meter = null;
    for (const track of media?.getTracks() ?? []) track.stop();
    media = null;
    video.srcObject = null;
}

/** A stopping or draining server ends the session; the same address may lead to another server. */
function goOn() {
    const kept = media;
    media = null;
    leave();
    show('warn', 'Interrupted', 'The server has ended the session.');
    publish(kept);
}

function fail(text) {
    leave();
    show('bad', 'Stopped', text);
}

const size = () => {
    const [width, height] = byId('size').value.split('x').map(Number);
    return { width: { ideal: width }, height: { ideal: height }, frameRate: { ideal: 30 } };
};

async function capture() {
    if (!navigator.mediaDevices)
        throw new Error('The browser allows camera access only over HTTPS or on this machine: open the page by https:// or at 127.0.0.1.');
    if (byId('source').value === 'screen') return navigator.mediaDevices.getDisplayMedia({ video: size(), audio: true });
    const device = (id) => (byId(id).value ? { deviceId: { exact: byId(id).value } } : {});
    return navigator.mediaDevices.getUserMedia({
        video: byId('source').value === 'sound' ? false : { ...size(), ...device('camera') },
        audio: { ...device('microphone'), channelCount: { ideal: 2 } },
    });
}

/** Browsers reveal device names after the page was allowed to use the devices. */
async function listDevices() {
    const all = (await navigator.mediaDevices?.enumerateDevices()) ?? [];
    for (const [id, kind] of [['camera', 'videoinput'], ['microphone', 'audioinput']]) {
        const chosen = byId(id).value;
        const found = all.filter((one) => one.kind === kind && one.deviceId);
        byId(id).replaceChildren(
            element('option', { value: '' }, 'default'),
            ...found.map((one, index) => element('option', { value: one.deviceId }, one.label || `device ${index + 1}`)),
        );
        byId(id).value = found.some((one) => one.deviceId === chosen) ? chosen : '';
    }
}

/** `kept` is media that is already being captured. */
async function publish(kept) {
    leave();
    const connection = new RTCPeerConnection();
    const own = new Session(connection, query.get('token'));
    session = own;
    show('warn', 'Connecting', 'Connecting');
    try {
        media = kept ?? (await capture());
        await listDevices();
        if (session !== own) return;
        video.srcObject = media;
        for (const track of media.getTracks()) {
            const transceiver = connection.addTransceiver(track, {
                direction: 'sendonly',
                streams: [media],
                sendEncodings: track.kind === 'video' ? [{ maxBitrate: Number(byId('bitrate').value) * 1000 }] : undefined,
            });
            const codec = byId('codec').value;
            if (track.kind === 'video' && codec && !prefer(transceiver, 'send', codec))
                throw new Error(`This browser does not encode ${codec} over WebRTC.`);
            track.addEventListener('ended', () => session === own && stop());
        }
        connection.onconnectionstatechange = () => {
            if (session !== own) return;
            if (connection.connectionState === 'connected') {
                clearTimeout(timer);
                meter = new Meter('outbound-rtp');
                show('good', 'Live', '');
            } else if (connection.connectionState === 'failed') {
                fail('The connection was lost.');
            }
        };
        await own.open(address.value);
        own.whenEnded(() => session === own && goOn());
        timer = setTimeout(() => fail('The server could not be reached by UDP or TCP.'), CONNECT_MS_MAX);
        show('warn', 'Connecting', '');
    } catch (error) {
        if (session === own) fail(sentenceOf(error));
    }
}

function stop() {
    leave();
    show('', 'Stopped', 'Stopped');
}

async function showFigures() {
    const now = meter && session ? await meter.read(session.connection) : null;
    const text = (value, shown) => setText(byId(value), now ? shown(now) : '–');
    text('picture', (f) => (f.width ? `${f.width}×${f.height}` : 'none'));
    text('fps', (f) => format.count(Math.round(f.framesPerSecond)));
    text('frames', (f) => format.count(f.frames));
    text('rate', (f) => format.bitrate(f.kbitsPerSecond));
    text('loss', (f) => `${(f.loss * 100).toFixed(1)} %`);
    text('rtt', (f) => (Number.isFinite(f.roundTrip) ? `${Math.round(f.roundTrip * 1000)} ms` : '–'));
    text('keys', (f) => format.count(f.keyFrameRequests));
    text('limited', (f) => ({ none: 'nothing', cpu: 'CPU', bandwidth: 'bandwidth' })[f.limited] ?? f.limited);
    text('codecs', (f) => f.codecs || '–');
}

function watchLink() {
    const url = new URL(address.value, location.href);
    const link = new URL('whep.html', location.href);
    link.searchParams.set('app', url.searchParams.get('app') ?? 'live');
    link.searchParams.set('stream', url.searchParams.get('stream') ?? 'livestream');
    if (url.host !== location.host) link.searchParams.set('api', url.host);
    link.searchParams.set('autostart', 'true');
    byId('watch').href = link.href;
}

address.value = endpointOf('whip', query, location);
if (query.get('codec')) byId('codec').value = query.get('codec').toLowerCase();
address.addEventListener('input', () => URL.canParse(address.value) && watchLink());
byId('form').addEventListener('submit', (event) => {
    event.preventDefault();
    publish();
});
byId('source').addEventListener('change', () => {
    for (const id of ['camera', 'microphone']) byId(id).disabled = byId('source').value === 'screen';
});
byId('stop').addEventListener('click', stop);
addEventListener('pagehide', leave);
watchLink();
listDevices().catch(() => {});
setInterval(showFigures, FIGURES_MS);
if (query.get('autostart') === 'true') publish();
