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

const VIDEO = 'videotestsrc is-live=true ! video/x-raw,width=1280,height=720,framerate=30/1 ! x264enc tune=zerolatency bitrate=2500 key-int-max=60 ! h264parse';
const AUDIO = 'audiotestsrc is-live=true ! audioconvert ! audioresample ! avenc_aac ! aacparse ! mux.';
const ENCODE = '-c:v libx264 -preset veryfast -tune zerolatency -g 60 -bf 0 -c:a aac';

/** The address of an application, and the name that is its last part. */
const serverAndKey = (address) => /^(.*)\/([^/]+)$/.exec(address).slice(1);

/** Texts by the id of their place, for each address that this client can publish to. */
const COMMANDS = {
    rtmp: (address) => {
        const [server, key] = serverAndKey(address);
        return {
            'obs-server': server,
            'obs-key': key,
            'ffmpeg-copy': `ffmpeg -re -i FILE -c copy -f flv '${address}'`,
            'ffmpeg-encode': `ffmpeg -re -i FILE ${ENCODE} -f flv '${address}'`,
            'gst-rtmp': `gst-launch-1.0 ${VIDEO} ! flvmux name=mux streamable=true ! rtmp2sink location='${address}' ${AUDIO}`,
        };
    },
    rtmps: (address) => {
        const [server, key] = serverAndKey(address);
        return { 'obs-rtmps': server, 'obs-rtmps-key': key, 'ffmpeg-rtmps': `ffmpeg -re -i FILE -c copy -f flv '${address}'` };
    },
    srt: (address) => {
        const [place, id] = address.split('?streamid=');
        return {
            'obs-srt': address,
            'ffmpeg-srt': `ffmpeg -re -i FILE -c copy -f mpegts '${address}'`,
            'gst-srt': `gst-launch-1.0 ${VIDEO} ! mpegtsmux name=mux alignment=7 ! srtsink uri='${place}?mode=caller' streamid='${id}' ${AUDIO}`,
        };
    },
    rtsp: (address) => ({
        'ffmpeg-rtsp': `ffmpeg -re -i FILE -c copy -rtsp_transport tcp -f rtsp '${address}'`,
        'gst-rtsp': `gst-launch-1.0 ${VIDEO} ! mux. rtspclientsink name=mux protocols=tcp location='${address}' ${AUDIO.replace('avenc_aac ! aacparse', 'opusenc')}`,
    }),
    rtsps: (address) => ({ 'ffmpeg-rtsps': `ffmpeg -re -i FILE -c copy -rtsp_transport tcp -f rtsp '${address}'` }),
    whip: (address) => ({ 'obs-whip': address }),
};

function showCommands() {
    const shown = Object.fromEntries(Object.entries(addresses).map(([name, address]) => [name, named(address)]));
    for (const part of document.querySelectorAll('[data-needs]')) part.hidden = !shown[part.dataset.needs];
    // A tool without a way to this server is not shown.
    for (const id of ['obs', 'ffmpeg', 'gstreamer']) byId(id).hidden = !byId(id).querySelector('[data-needs]:not([hidden])');
    byId('nothing').hidden = Object.keys(shown).length > 0;
    byId('tools').hidden = Object.keys(shown).length === 0;
    for (const [name, address] of Object.entries(shown))
        for (const [id, text] of Object.entries(COMMANDS[name](address))) setText(byId(id).querySelector('code'), text);
    setLink(byId('whip'), `players/whip.html?stream=${encodeURIComponent(streamNow().name)}`);
}

function readAddresses(site) {
    const found = (site.publish ?? []).map(({ format: name, url }) => [String(name), reachable(String(url), site.origin)]);
    addresses = Object.fromEntries(found.filter(([name, address]) => Object.hasOwn(COMMANDS, name) && address !== null));
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
    'obs-rtmps': 'the OBS server over TLS',
    'obs-rtmps-key': 'the OBS stream key over TLS',
    'obs-srt': 'the OBS server for SRT',
    'obs-whip': 'the OBS server for WebRTC',
    'ffmpeg-copy': 'the ffmpeg command for a file',
    'ffmpeg-encode': 'the ffmpeg command that encodes',
    'ffmpeg-rtmps': 'the ffmpeg command for RTMPS',
    'ffmpeg-srt': 'the ffmpeg command for SRT',
    'ffmpeg-rtsp': 'the ffmpeg command for RTSP',
    'ffmpeg-rtsps': 'the ffmpeg command for RTSPS',
    'gst-rtmp': 'the GStreamer command',
    'gst-srt': 'the GStreamer command for SRT',
    'gst-rtsp': 'the GStreamer command for RTSP',
};
for (const [id, name] of Object.entries(COPIED)) byId(id).append(copyButton(name, () => byId(id).querySelector('code').textContent));
const asked = new URLSearchParams(location.search).get('stream');
if (asked) byId('name').value = asked;
const polling = repeat(refresh);
byId('name').addEventListener('input', () => {
    showCommands();
    polling.wake();
});
