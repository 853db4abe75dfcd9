// The landing page: the live streams, how to play them, and how to publish one. It requests the list of streams from the server
// that sent the page, and the recordings of a stream when a reader opens them; nothing else.
import { showAddresses } from './console/lib/addresses.js';
import { announce, byId, copyButton, element, repeat, setLink, setText, showList } from './console/lib/dom.js';
import * as format from './console/lib/format.js';
import { createRecorded } from './console/lib/recordings.js';
import { createShare, updateShare } from './console/lib/share.js';
import { addressesOf, bestOf, byName, DEFAULT_VHOST, reachable, readSite, streamPage, thumbnailOf } from './console/lib/site.js';

const REFRESH_MS = 3000;
const RETRY_MS = 5000;
const PAGE = 60;
// Thumbnails are asked for again after this time.
const THUMBNAIL_MS = 15_000;

// The first stream of each previous page.
const before = [];
let from = 0;
let next = null;
let shownTotal = -1;

function createStream({ stream, origin }) {
    return element(
        'li',
        { class: 'card stream' },
        element(
            'div',
            { class: 'title' },
            element('span', { class: 'dot good live', 'aria-hidden': 'true' }),
            element('div', {}, element('h2', {}, element('a')), element('p', { class: 'muted small' })),
            element('a', { class: 'button primary' }, 'Play'),
        ),
        element('div', { class: 'glance' }, createThumbnail(), element('dl', { class: 'facts' })),
        element('div', { class: 'links' }),
        createRecorded(stream, origin),
        createShare(),
    );
}

/** A picture that can not be had is left out. */
function createThumbnail() {
    const image = element('img', { class: 'thumbnail', alt: '', loading: 'lazy', decoding: 'async' });
    const picture = element('div', { class: 'picture out-of-sight' }, image);
    for (const type of ['error', 'load']) image.addEventListener(type, () => picture.classList.toggle('out-of-sight', type === 'error'));
    return picture;
}

function updateThumbnail(picture, stream, origin) {
    const image = picture.firstElementChild;
    // The page shows no images of other servers (?site=).
    picture.hidden = !stream.video || origin !== location.origin;
    const turn = Math.floor(Date.now() / THUMBNAIL_MS);
    const address = new URL(thumbnailOf(stream, origin));
    address.searchParams.set('at', turn);
    if (!picture.hidden && image.getAttribute('src') !== address.href) image.src = address.href;
}

const facts = (stream) => [
    ['Video', format.video(stream) || 'none'],
    ['Audio', format.audio(stream) || 'none'],
    ['Bit rate', format.bitrate(stream.kbps || null)],
    ['Live for', format.duration(stream.live_seconds)],
    ['Viewers', format.viewers(stream.viewers)],
];

function updateStream(shown, { stream, addresses, origin }) {
    const page = streamPage(stream, origin);
    const name = shown.querySelector('h2 a');
    setText(name, String(stream.name));
    setLink(name, page);
    updateThumbnail(shown.querySelector('.picture'), stream, origin);
    updateShare(shown.querySelector('.share'), stream, origin);
    const vhost = stream.vhost === DEFAULT_VHOST ? '' : stream.vhost;
    setText(shown.querySelector('.title p'), [stream.app, vhost].filter(Boolean).join(' · '));
    const best = bestOf(addresses);
    const play = shown.querySelector('.primary');
    play.hidden = !best;
    if (best) setLink(play, best.player);
    play.setAttribute('aria-label', `Play ${stream.name}`);
    showList(
        shown.querySelector('.facts'),
        facts(stream),
        ([name]) => name,
        ([name]) => element('div', {}, element('dt', {}, name), element('dd')),
        (row, [, value]) => setText(row.lastElementChild, value),
    );
    showAddresses(shown.querySelector('.links'), addresses, stream);
}

/** Shows the streams and how to publish, or one of the problems. */
function show(name) {
    for (const id of ['live', 'off', 'unreachable']) byId(id).hidden = id !== name;
    byId('publish').hidden = name !== 'live';
}

/** Opens the section about publishing while no stream is live. */
function showNone(isNone) {
    if (byId('none').hidden !== isNone) return;
    byId('none').hidden = !isNone;
    byId('publish').open = isNone;
}

function showState(kind, text) {
    byId('dot').className = `dot ${kind}`;
    setText(byId('state'), text);
}

function showHowToPublish(site) {
    const address = (name) => {
        const found = site.publish?.find((one) => one.format === name);
        return found ? reachable(String(found.url), site.origin) : null;
    };
    const rtmp = address('rtmp') ?? address('rtmps');
    byId('with-rtmp').hidden = !rtmp;
    byId('no-rtmp').hidden = Boolean(rtmp);
    byId('with-whip').hidden = !address('whip');
    const srt = address('srt');
    byId('with-srt').hidden = !srt;
    // The quotes are for the shell: a stream id has a '#' and a '!'.
    if (srt) setText(byId('srt').querySelector('code'), `ffmpeg -re -i FILE -c copy -f mpegts '${srt}'`);
    const rtsp = address('rtsp') ?? address('rtsps');
    byId('with-rtsp').hidden = !rtsp;
    if (rtsp) setText(byId('rtsp').querySelector('code'), `ffmpeg -re -i FILE -c copy -rtsp_transport tcp -f rtsp ${rtsp}`);
    if (!rtmp) return;
    const [, server, key] = /^(.*)\/([^/]+)$/.exec(rtmp);
    setText(byId('ffmpeg').querySelector('code'), `ffmpeg -re -i FILE -c copy -f flv ${rtmp}`);
    setText(byId('obs-server').querySelector('code'), server);
    setText(byId('obs-key').querySelector('code'), key);
}

function showStreams(site) {
    next = typeof site.next === 'number' ? site.next : null;
    showList(
        byId('streams'),
        [...site.streams].sort(byName).map((stream) => ({ stream, addresses: addressesOf(stream, site.origin), origin: site.origin })),
        ({ stream }) => `${stream.vhost}/${stream.app}/${stream.name}`,
        createStream,
        updateStream,
    );
    const isOnePage = before.length === 0 && next === null;
    byId('pager').hidden = isOnePage;
    byId('before').disabled = before.length === 0;
    byId('more').disabled = next === null;
    setText(byId('place'), `page ${before.length + 1}`);
    const total = isOnePage ? site.streams.length : -1;
    setText(byId('total'), total <= 0 ? '' : total === 1 ? '1 stream' : `${total} streams`);
    if (total !== shownTotal && total >= 0) announce(total === 1 ? 'One stream is live' : `${total} streams are live`);
    shownTotal = total;
    if (typeof site.version === 'string') setText(byId('version'), `Millrace ${site.version}, a live-streaming server`);
    byId('hides-some').hidden = site.hides_some !== true;
    showNone(site.streams.length === 0 && isOnePage);
    show('live');
}

function showProblem(error) {
    if (error.kind === 'off') {
        showState('warn', 'Not listed');
        show('off');
        return RETRY_MS;
    }
    showState('bad', 'No response');
    setText(byId('tried'), error.origin);
    show('unreachable');
    return RETRY_MS;
}

async function refresh() {
    try {
        const site = await readSite(`?count=${PAGE}&from=${from}`);
        // The last stream of the last page has ended.
        if (site.streams.length === 0 && site.next === null && before.length > 0) from = before.pop();
        showHowToPublish(site);
        showStreams(site);
        showState('good', 'Connected');
        return REFRESH_MS;
    } catch (error) {
        if (!error.kind) throw error;
        return showProblem(error);
    }
}

for (const [id, name] of [
    ['ffmpeg', 'the ffmpeg command'],
    ['srt', 'the command for SRT'],
    ['rtsp', 'the command for RTSP'],
    ['obs-server', 'the OBS server'],
    ['obs-key', 'the OBS stream key'],
])
    byId(id).append(copyButton(name, () => byId(id).querySelector('code').textContent));
const polling = repeat(refresh);
byId('before').addEventListener('click', () => {
    from = before.pop() ?? 0;
    polling.wake();
});
byId('more').addEventListener('click', () => {
    if (next === null) return;
    before.push(from);
    from = next;
    polling.wake();
});
