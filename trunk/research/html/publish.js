// How to publish with the addresses of this server, and a check of the stream that arrives: the server states what is wrong with it.
import { byId, copyButton, element, repeat, setLink, setText, showList } from './console/lib/dom.js';
import * as format from './console/lib/format.js';
import { showHealth } from './console/lib/health.js';
import { DEFAULT_VHOST, reachable, readSite, streamPage, streamUrl } from './console/lib/site.js';

const REFRESH_MS = 2000;
const RETRY_MS = 5000;
const SAMPLE_APP = 'live';
const SAMPLE_NAME = 'livestream';

let addresses = {};

function streamNow() {
    const name = byId('name');
    return { vhost: DEFAULT_VHOST, app: SAMPLE_APP, name: name.validity.valid && name.value ? name.value : SAMPLE_NAME };
}

/** The sample address of the server, with the name that was chosen. */
const named = (address) => address.replace(SAMPLE_NAME, streamNow().name);

function commands({ rtmp, srt }) {
    const video = 'videotestsrc is-live=true ! video/x-raw,width=1280,height=720,framerate=30/1 ! x264enc tune=zerolatency bitrate=2500 key-int-max=60 ! h264parse';
    const audio = 'audiotestsrc is-live=true ! audioconvert ! audioresample ! avenc_aac ! aacparse ! mux.';
    const encode = '-c:v libx264 -preset veryfast -tune zerolatency -g 60 -bf 0 -c:a aac';
    const texts = {};
    if (rtmp) {
        const [, server, key] = /^(.*)\/([^/]+)$/.exec(rtmp);
        Object.assign(texts, {
            'obs-server': server,
            'obs-key': key,
            'ffmpeg-copy': `ffmpeg -re -i FILE -c copy -f flv '${rtmp}'`,
            'ffmpeg-encode': `ffmpeg -re -i FILE ${encode} -f flv '${rtmp}'`,
            'gst-rtmp': `gst-launch-1.0 ${video} ! flvmux name=mux streamable=true ! rtmp2sink location='${rtmp}' ${audio}`,
        });
    }
    if (srt) {
        const [place, id] = srt.split('?streamid=');
        Object.assign(texts, {
            'obs-srt': srt,
            'ffmpeg-srt': `ffmpeg -re -i FILE -c copy -f mpegts '${srt}'`,
            'gst-srt': `gst-launch-1.0 ${video} ! mpegtsmux name=mux alignment=7 ! srtsink uri='${place}?mode=caller' streamid='${id}' ${audio}`,
        });
    }
    return texts;
}

function showCommands() {
    const shown = Object.fromEntries(Object.entries(addresses).map(([name, address]) => [name, named(address)]));
    for (const part of document.querySelectorAll('[data-needs]')) part.hidden = !shown[part.dataset.needs];
    for (const id of ['obs', 'ffmpeg', 'gstreamer']) byId(id).hidden = !shown.rtmp && !shown.srt && !(id === 'obs' && shown.whip);
    byId('nothing').hidden = Object.keys(shown).length > 0;
    byId('tools').hidden = Object.keys(shown).length === 0;
    const texts = commands(shown);
    if (shown.whip) texts['obs-whip'] = shown.whip;
    for (const [id, text] of Object.entries(texts)) setText(byId(id).querySelector('code'), text);
    setLink(byId('whip'), `players/whip.html?stream=${encodeURIComponent(streamNow().name)}`);
}

function readAddresses(site) {
    const of = (name) => {
        const found = site.publish?.find((one) => one.format === name);
        return found ? reachable(String(found.url), site.origin) : null;
    };
    const found = { rtmp: of('rtmp') ?? of('rtmps'), srt: of('srt'), whip: of('whip') };
    addresses = Object.fromEntries(Object.entries(found).filter(([, address]) => address !== null));
}

function showStream(stream, origin) {
    byId('facts').hidden = byId('page').hidden = !stream;
    showHealth(stream?.health, `Waiting for the stream ${streamNow().name}. It is shown here as soon as it arrives.`);
    if (!stream) return;
    setLink(byId('page'), streamPage(stream, origin));
    const rows = [
        ['Video', format.video(stream) || 'none'],
        ['Audio', format.audio(stream) || 'none'],
        ['Bit rate', format.bitrate(stream.kbps || null)],
        ['Live for', format.duration(stream.live_seconds)],
        ['Viewers', format.viewers(stream.viewers)],
    ];
    showList(
        byId('facts'),
        rows,
        ([name]) => name,
        ([name]) => element('div', {}, element('dt', {}, name), element('dd')),
        (row, [, value]) => setText(row.lastElementChild, value),
    );
}

function showState(kind, text) {
    byId('dot').className = `dot ${kind}`;
    setText(byId('state'), text);
}

const PROBLEMS = {
    off: 'This server does not list its streams, so this page cannot check yours. The console shows it.',
    unreachable: 'The server does not respond.',
};

async function refresh() {
    const wanted = streamUrl(streamNow());
    try {
        const site = await readSite(`?stream=${encodeURIComponent(wanted)}`);
        readAddresses(site);
        showCommands();
        const found = site.streams.find((one) => streamUrl(one) === wanted);
        showState(found ? 'good' : 'warn', found ? 'Live' : 'Waiting');
        showStream(found, site.origin);
        const hidden = ' Streams guarded by a callback or by tokens are not shown here.';
        if (!found && site.hides_some === true) byId('healthy').textContent += hidden;
        return REFRESH_MS;
    } catch (error) {
        if (!error.kind) throw error;
        showState('bad', error.kind === 'off' ? 'Not listed' : 'No response');
        showStream(null);
        setText(byId('healthy'), PROBLEMS[error.kind] ?? error.message);
        return RETRY_MS;
    }
}

const COPIED = {
    'obs-server': 'the OBS server',
    'obs-key': 'the OBS stream key',
    'obs-srt': 'the OBS server for SRT',
    'obs-whip': 'the OBS server for WebRTC',
    'ffmpeg-copy': 'the ffmpeg command for a file',
    'ffmpeg-encode': 'the ffmpeg command that encodes',
    'ffmpeg-srt': 'the ffmpeg command for SRT',
    'gst-rtmp': 'the GStreamer command',
    'gst-srt': 'the GStreamer command for SRT',
};
for (const [id, name] of Object.entries(COPIED)) byId(id).append(copyButton(name, () => byId(id).querySelector('code').textContent));
const asked = new URLSearchParams(location.search).get('stream');
if (asked) byId('name').value = asked;
const polling = repeat(refresh);
byId('name').addEventListener('input', () => {
    showCommands();
    polling.wake();
});
