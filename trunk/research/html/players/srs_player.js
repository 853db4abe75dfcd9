// The player page: form, statistics, and messages for the viewer. Playback is in playback.js.
import { announce, byId, element, setLink, setText } from '../console/lib/dom.js';
import * as format from '../console/lib/format.js';
import { addressesOf, readSite } from '../console/lib/site.js';
import { addressOf, formatOf, playable, variant } from './address.js';
import { Playback } from './playback.js';

const FIGURES_MS = 1000;
const DOTS = {
    idle: '',
    connecting: 'warn',
    waiting: 'warn',
    playing: 'good',
    buffering: 'warn',
    retrying: 'warn',
    failed: 'bad',
};
const TITLES = {
    idle: 'Stopped',
    connecting: 'Connecting',
    waiting: 'Waiting',
    playing: 'Playing',
    buffering: 'Buffering',
    retrying: 'Interrupted',
    failed: 'Cannot play',
};

const query = new URLSearchParams(location.search);
const video = byId('video');
const address = byId('address');
const way = byId('way');
let retryAt = 0;
let connections = 0;
let lastFrames = { count: 0, at: 0 };

function showState(state, text, at) {
    if (state === 'connecting') connections++;
    retryAt = state === 'retrying' ? at : 0;
    byId('dot').className = `dot ${DOTS[state]}`;
    setText(byId('state'), TITLES[state]);
    byId('over').hidden = video.controls = playback.isOn;
    byId('again').hidden = state !== 'retrying' && state !== 'idle' && state !== 'failed';
    setText(byId('again'), state === 'retrying' ? 'Try now' : 'Play');
    byId('stop').disabled = state === 'idle';
    setText(byId('headline'), state === 'idle' ? 'Stopped' : state === 'connecting' ? 'Connecting' : text);
    setText(byId('detail'), state === 'waiting' ? 'Playback starts as soon as the stream does.' : '');
    if (state !== 'buffering') announce(text || TITLES[state]);
    showCountdown();
}

function showCountdown() {
    if (!retryAt) return;
    setText(byId('detail'), `Next try in ${Math.max(0, Math.ceil((retryAt - performance.now()) / 1000))} s.`);
}

function showWay() {
    const found = formatOf(address.value);
    const socket = /^wss?:/i.test(address.value);
    const value = found === 'flv' ? (socket ? 'ws-flv' : 'flv') : found === 'hls' ? 'hls' : 'other';
    way.querySelector('[value="other"]').hidden = value !== 'other';
    way.value = value;
}

function showFigures() {
    showCountdown();
    const now = performance.now();
    const figures = playback.figures();
    const { isOn } = playback;
    const grown = figures.frames - lastFrames.count;
    const fps = grown >= 0 && lastFrames.at ? (grown * 1000) / (now - lastFrames.at) : NaN;
    lastFrames = { count: figures.frames, at: now };
    setText(byId('size'), figures.width ? `${figures.width}×${figures.height}` : isOn ? 'none' : '–');
    setText(byId('fps'), isOn ? format.count(Math.round(fps)) : '–');
    setText(byId('frames'), format.count(figures.frames));
    setText(byId('dropped'), format.count(figures.dropped));
    setText(byId('buffer'), isOn ? format.seconds(figures.buffer) : '–');
    setText(byId('latency'), isOn ? format.seconds(figures.latency) : '–');
    setText(byId('rate'), isOn ? format.bitrate(figures.kbytesPerSecond * 8.192) : '–');
    setText(byId('codecs'), figures.codecs || '–');
    setText(byId('connections'), format.count(connections));
    byId('sound').hidden = !(isOn && video.muted && byId('sound').dataset.wanted);
}

function play() {
    address.value = playable(address.value, location);
    showWay();
    const shared = new URLSearchParams({ url: address.value, autostart: 'true' });
    setLink(byId('share'), `srs_player.html?${shared}`);
    playback.start(address.value);
}

const playback = new Playback(video, showState);
address.value = addressOf(query, location);
showWay();

byId('form').addEventListener('submit', (event) => {
    event.preventDefault();
    play();
});
address.addEventListener('input', showWay);
way.addEventListener('change', () => {
    const other = variant(address.value, way.value);
    if (!other) return showWay();
    address.value = other;
    showWay();
    if (playback.state !== 'idle') play();
});
byId('delay').addEventListener('change', () => (playback.delay = byId('delay').value));
byId('stop').addEventListener('click', () => playback.stop());
byId('again').addEventListener('click', () => (playback.state === 'retrying' ? playback.retryNow() : play()));
video.addEventListener('silenced', () => (byId('sound').dataset.wanted = 'yes'));
byId('sound').addEventListener('click', () => {
    video.muted = false;
    delete byId('sound').dataset.wanted;
    byId('sound').hidden = true;
});

/** Offers the live streams of this server in the address field. */
async function offerAddresses() {
    const site = await readSite();
    const playable = site.streams.flatMap((stream) => addressesOf(stream, site.origin)).filter((one) => formatOf(one.url));
    byId('addresses').replaceChildren(...playable.map(({ url, name }) => element('option', { value: url }, name)));
}

offerAddresses().catch((error) => {
    if (!error.kind) throw error;
});
setInterval(showFigures, FIGURES_MS);
if (query.get('autostart') === 'true') play();
