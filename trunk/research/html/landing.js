// The landing page: what is live, how to play it, and what to do when nothing is.
import { Api } from './console/lib/api.js';
import { announce, byId, copyButton, element, repeat, setLink, setText, showList } from './console/lib/dom.js';
import * as format from './console/lib/format.js';
import { DEFAULT_VHOST, findSite, rtmpServer, streamLinks } from './console/lib/links.js';

const REFRESH_MS = 2000;
const RETRY_MS = 5000;
const PAGE = 60;
const PROBE_EVERY_MS = 10_000;
const PROBES_AT_ONCE_MAX = 6;

const api = new Api({ onPrompt: () => showState('warn', 'Password wanted') });
let site = location.origin;
let start = 0;
let shownTotal = -1;

// Does the playlist of a stream exist yet? A stream's id → { found, asked (ms) }. Only streams of virtual hosts that have HLS are
// asked.
const playlists = new Map();

async function probe(id, address) {
    const known = playlists.get(id);
    if (known && (known.found || performance.now() - known.asked < PROBE_EVERY_MS)) return;
    playlists.set(id, { found: false, asked: performance.now() });
    try {
        const answer = await fetch(address, { method: 'HEAD', credentials: 'omit', signal: AbortSignal.timeout(3000) });
        playlists.set(id, { found: answer.ok, asked: performance.now() });
    } catch {
        // Asked again later.
    }
}

function linkRow(name, more) {
    const address = element('code');
    const copy = copyButton(`the ${name} address`, () => address.textContent);
    return element(
        'div',
        { class: 'copy', 'data-link': name },
        element('span', {}, name),
        address,
        element('div', {}, more, copy),
    );
}

function createStream() {
    return element(
        'li',
        { class: 'card stream' },
        element(
            'div',
            { class: 'title' },
            element('span', { class: 'dot good live', 'aria-hidden': 'true' }),
            element('div', {}, element('h3'), element('p', { class: 'muted small' })),
            element('a', { class: 'button primary' }, 'Play'),
        ),
        element('dl', { class: 'facts' }),
        element(
            'div',
            { class: 'links' },
            linkRow('RTMP'),
            linkRow('FLV'),
            linkRow('HLS', element('a', { class: 'button little' }, 'Play')),
        ),
    );
}

function facts(stream) {
    const viewers = Math.max(0, stream.clients - (stream.publish?.active ? 1 : 0));
    return [
        ['Picture', format.picture(stream) || 'none'],
        ['Sound', format.sound(stream) || 'none'],
        ['Bit rate', format.bitrate(stream.kbps?.recv_30s)],
        ['Viewers', format.count(viewers)],
    ];
}

function updateStream(shown, { stream, vhost, links, hasHls }) {
    setText(shown.querySelector('h3'), stream.name);
    setText(
        shown.querySelector('.title p'),
        [stream.app, vhost && vhost !== DEFAULT_VHOST ? vhost : ''].filter(Boolean).join(' · '),
    );
    const play = shown.querySelector('.primary');
    setLink(play, links.player);
    play.setAttribute('aria-label', `Play ${stream.name}`);
    showList(
        shown.querySelector('.facts'),
        facts(stream),
        ([name]) => name,
        ([name]) => element('div', {}, element('dt', {}, name), element('dd')),
        (row, [, value]) => setText(row.lastElementChild, value),
    );
    setText(shown.querySelector('[data-link="RTMP"] code'), links.rtmp);
    setText(shown.querySelector('[data-link="FLV"] code'), links.flv);
    const row = shown.querySelector('[data-link="HLS"]');
    row.hidden = !hasHls;
    setText(row.querySelector('code'), links.hls);
    setLink(row.querySelector('a'), links.hlsPlayer);
    row.querySelector('a').setAttribute('aria-label', `Play ${stream.name} by HLS`);
}

/** Shows one of the sections that exclude each other. */
function show(name) {
    for (const id of ['live', 'publish', 'unreachable', 'locked', 'failed']) byId(id).hidden = id !== name;
}

function showState(kind, text) {
    byId('dot').className = `dot ${kind}`;
    setText(byId('state'), text);
}

function showStreams(streams, vhosts, isFull) {
    const byVhost = new Map(vhosts.map((vhost) => [vhost.id, vhost]));
    const live = streams.filter((stream) => stream.publish?.active);
    let probes = 0;
    const items = live.map((stream) => {
        const vhost = byVhost.get(stream.vhost);
        const links = streamLinks(stream, vhost?.name ?? '', site);
        const wantsHls = vhost?.hls?.enabled === true;
        if (wantsHls && !playlists.get(stream.id)?.found && probes++ < PROBES_AT_ONCE_MAX) probe(stream.id, links.hls);
        return { stream, vhost: vhost?.name ?? '', links, hasHls: wantsHls && playlists.get(stream.id)?.found === true };
    });
    for (const id of playlists.keys()) if (!streams.some((stream) => stream.id === id)) playlists.delete(id);
    showList(byId('streams'), items, ({ stream }) => stream.id, createStream, updateStream);
    byId('pager').hidden = start === 0 && !isFull;
    byId('before').disabled = start === 0;
    byId('more').disabled = !isFull;
    setText(byId('place'), `from ${start + 1}`);
    const total = start === 0 && !isFull ? live.length : -1;
    setText(byId('total'), total < 0 ? '' : total === 1 ? '1 stream' : `${total} streams`);
    if (total !== shownTotal && total >= 0) announce(total === 1 ? 'One stream is live' : `${total} streams are live`);
    shownTotal = total;
    show(live.length > 0 || start > 0 || isFull ? 'live' : 'publish');
}

function showProblem(error) {
    if (error.kind === 'password') {
        showState('warn', 'Password wanted');
        byId('locked-own').hidden = byId('sign-in').hidden = !error.own;
        byId('locked-other').hidden = error.own;
        setLink(byId('locked-link'), `${error.base}/console/`);
        show('locked');
        return null;
    }
    if (error.kind === 'refused') {
        showState('bad', 'Refused');
        setText(byId('why'), error.message);
        show('failed');
        return RETRY_MS;
    }
    showState('bad', 'No answer');
    setText(byId('tried'), (error.tried ?? []).join(', '));
    show('unreachable');
    return RETRY_MS;
}

async function refresh() {
    try {
        const [streams, vhosts] = [
            await api.get(`/api/v1/streams/?start=${start}&count=${PAGE}`),
            await api.get('/api/v1/vhosts/?count=100'),
        ];
        showStreams(streams.streams, vhosts.vhosts ?? [], streams.streams.length >= PAGE);
        showState('good', 'Live');
        return REFRESH_MS;
    } catch (error) {
        if (!error.kind) throw error;
        return showProblem(error);
    }
}

function showHowToPublish() {
    const server = rtmpServer('live', null);
    const command = `ffmpeg -re -i doc/source.flv -c copy -f flv ${server}/livestream`;
    byId('ffmpeg').querySelector('code').textContent = command;
    byId('ffmpeg').append(copyButton('the ffmpeg command', () => command));
    byId('obs-server').querySelector('code').textContent = server;
    byId('obs-server').append(copyButton('the OBS server', () => server));
    byId('obs-key').append(copyButton('the OBS stream key', () => 'livestream'));
    byId('api').value = new URLSearchParams(location.search).get('api') ?? '';
}

showHowToPublish();
site = await findSite();
const polling = repeat(refresh);
byId('sign-in').addEventListener('click', () => {
    api.signIn();
    polling.wake();
});
byId('before').addEventListener('click', () => {
    start = Math.max(0, start - PAGE);
    polling.wake();
});
byId('more').addEventListener('click', () => {
    start += PAGE;
    polling.wake();
});
