// The landing page: the live streams, how to play them, and how to publish one. It requests the list of streams from the server
// that sent the page, and nothing else.
import { announce, byId, copyButton, element, repeat, setLink, setText, showList } from './console/lib/dom.js';
import * as format from './console/lib/format.js';
import { addressesOf, bestOf, byName, DEFAULT_VHOST, reachable, readSite } from './console/lib/site.js';

const REFRESH_MS = 3000;
const RETRY_MS = 5000;
const PAGE = 60;
// The player offers these formats for the addresses that are shown.
const NOT_SHOWN = ['ws-flv', 'ws-ts'];

// The first stream of each previous page.
const before = [];
let from = 0;
let next = null;
let shownTotal = -1;

function createAddress() {
    const code = element('code');
    const play = element('a', { class: 'button little' }, 'Play');
    const row = element('div', { class: 'copy' }, element('span'), code, element('div', { class: 'acts' }, play));
    row.lastElementChild.append(copyButton('the address', () => code.textContent));
    return row;
}

function updateAddress(row, { format: name, name: label, url, player }, stream) {
    row.dataset.link = name;
    const [shown, code, acts] = row.children;
    const [play, copy] = acts.children;
    setText(shown, label);
    setText(code, url);
    play.hidden = !player;
    if (player) setLink(play, player);
    play.setAttribute('aria-label', `Play ${stream.name} by ${label}`);
    copy.setAttribute('aria-label', `Copy the ${label} address of ${stream.name}`);
}

function createStream() {
    return element(
        'li',
        { class: 'card stream' },
        element(
            'div',
            { class: 'title' },
            element('span', { class: 'dot good live', 'aria-hidden': 'true' }),
            element('div', {}, element('h2'), element('p', { class: 'muted small' })),
            element('a', { class: 'button primary' }, 'Play'),
        ),
        element('dl', { class: 'facts' }),
        element('div', { class: 'links' }),
    );
}

const facts = (stream) => [
    ['Video', format.video(stream) || 'none'],
    ['Audio', format.audio(stream) || 'none'],
    ['Bit rate', format.bitrate(stream.kbps || null)],
];

function updateStream(shown, { stream, addresses }) {
    setText(shown.querySelector('h2'), String(stream.name));
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
    showList(
        shown.querySelector('.links'),
        addresses.filter((one) => !NOT_SHOWN.includes(one.format)),
        (one) => one.format,
        createAddress,
        (row, one) => updateAddress(row, one, stream),
    );
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
    if (srt) setText(byId('srt').querySelector('code'), `ffmpeg -re -i doc/source.flv -c copy -f mpegts '${srt}'`);
    if (!rtmp) return;
    const [, server, key] = /^(.*)\/([^/]+)$/.exec(rtmp);
    setText(byId('ffmpeg').querySelector('code'), `ffmpeg -re -i doc/source.flv -c copy -f flv ${rtmp}`);
    setText(byId('obs-server').querySelector('code'), server);
    setText(byId('obs-key').querySelector('code'), key);
}

function showStreams(site) {
    next = typeof site.next === 'number' ? site.next : null;
    showList(
        byId('streams'),
        [...site.streams].sort(byName).map((stream) => ({ stream, addresses: addressesOf(stream, site.origin) })),
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
    if (typeof site.version === 'string') setText(byId('version'), `Millrace ${site.version}`);
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
