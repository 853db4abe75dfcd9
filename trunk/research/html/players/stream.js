// The page about a stream: its player, and what the server states about it. Everybody who may see the stream gets its health, its
// facts and its addresses; charts, viewers and events need the API.
import { showAddresses } from '../console/lib/addresses.js';
import { Api } from '../console/lib/api.js';
import { Chart } from '../console/lib/charts.js';
import { byId, element, repeat, setText, showList } from '../console/lib/dom.js';
import * as format from '../console/lib/format.js';
import { showHealth } from '../console/lib/health.js';
import { PointsOfHour } from '../console/lib/history.js';
import { kickButton } from '../console/lib/kick.js';
import { createShare, updateShare } from '../console/lib/share.js';
import { DEFAULT_VHOST, streamUrl } from '../console/lib/site.js';
import { Table } from '../console/lib/table.js';
import { RecordedParts } from './recorded_parts.js';
import { streamOf } from './stream_name.js';
import { findStream, StreamPlayer } from './stream_player.js';

const REFRESH_MS = 3000;
const RETRY_MS = 5000;

const stream = streamOf(new URLSearchParams(location.search));
const api = new Api();
const hour = new PointsOfHour();
let streamId = '';
let publisher = '';

const milliseconds = (value) => `${format.count(Math.round(value))} ms`;
const charts = {
    rate: new Chart({ title: 'Bit rate', series: ['out', 'in'], format: format.bitrate, least: 100 }),
    fps: new Chart({ title: 'Frame rate', series: ['fps'], format: (value) => format.count(Math.round(value)), least: 10 }),
    gop: new Chart({ title: 'Key frame distance', series: ['distance'], format: format.seconds, least: 2 }),
    delay: new Chart({ title: 'Delay in the server', series: ['mean of players'], format: milliseconds, least: 100 }),
    viewers: new Chart({ title: 'Viewers', series: ['all'], format: format.count, least: 5 }),
};
byId('charts').append(...Object.values(charts).map((chart) => chart.figure));

const clientTable = new Table({
    id: 'clients',
    columns: [
        ['Client', (client) => client.id, 'mono'],
        ['Type', (client) => client.type],
        ['Address', (client) => client.ip, 'long'],
        ['Rate', (client) => format.bitrate(format.rateOf(client)), 'number', format.rateOf],
        ['Sent', (client) => format.bytes(client.send_bytes), 'number', (client) => client.send_bytes],
        ['Queued', (client) => (client.publish ? '–' : format.seconds(client.queue_delay_ms / 1000)), 'number', (client) => client.queue_delay_ms],
        ['Dropped', (client) => (client.publish ? '–' : format.count(client.dropped_packets)), 'number', (client) => client.dropped_packets],
        ['Connected', (client) => format.duration(client.alive), 'number', (client) => client.alive],
    ],
    keyOf: (client) => client.id,
    createAction: (client) => kickButton(api, client, () => polling.wake()),
    load: async (start, count) => {
        const { clients, total } = await api.get(`/api/v1/clients/?start=${start}&count=${count}&stream=${encodeURIComponent(streamId)}`);
        return { items: clients, total };
    },
});

function showCharts() {
    charts.rate.set(hour.over((point) => point.send_kbps, (point) => point.recv_kbps));
    charts.fps.set(hour.over((point) => point.fps));
    charts.gop.set(hour.over((point) => point.gop));
    charts.delay.set(hour.over((point) => point.delay_ms));
    charts.viewers.set(...hour.viewers());
}

const EVENTS = { published: 'Publishing began', unpublished: 'Publishing ended', player_failed: 'A player failed', player_kicked: 'A player was disconnected' };

function showEvents(events) {
    const list = [...events].sort((a, b) => b.time - a.time);
    byId('events-none').hidden = list.length > 0;
    showList(
        byId('events'),
        list,
        ({ time, event, client }) => `${time} ${event} ${client}`,
        () => element('li', {}, element('time', { class: 'muted' }), element('span'), element('span', { class: 'muted' })),
        (row, { time, event, client, text }) => {
            setText(row.children[0], format.time(time));
            setText(row.children[1], `${EVENTS[event] ?? event}:`);
            setText(row.children[2], `${text} (${client})`);
        },
    );
}

function trackText(track) {
    const notes = [track.language, track.name, track.default && 'default', track.rendition && 'rendition'];
    return [format.video(track) || format.audio(track), ...notes].filter(Boolean).join(', ');
}

/** Streams with one track of each kind have them among their facts. */
function showTracks(tracks) {
    const kinds = new Set(tracks.map(({ kind }) => kind));
    byId('tracks').hidden = tracks.length === kinds.size;
    showList(
        byId('track-list'),
        tracks,
        ({ kind, id }) => `${kind} ${id}`,
        () => element('li', {}, element('code'), element('span', { class: 'muted' })),
        (row, track) => {
            setText(row.children[0], `${track.kind} ${track.id}`);
            setText(row.children[1], trackText(track));
        },
    );
}

/** The recordings that run, and those that failed. */
function showRecordings(dvrs) {
    byId('recorded').hidden = dvrs.length === 0;
    showList(
        byId('recordings'),
        dvrs,
        ({ file, worker }) => `${file} ${worker ?? ''}`,
        () => element('li', {}, element('code'), element('span', { class: 'muted' })),
        (row, { file, duration, bytes, active, error }) => {
            const state = error ? `failed: ${error}` : active ? 'recording' : 'complete';
            setText(row.children[0], String(file));
            setText(row.children[1], `${format.duration(duration)}, ${format.bytes(bytes)}, ${state}`);
        },
    );
}

function showFacts(found) {
    const rows = [
        ['Video', format.video(found) || 'none'],
        ['Audio', format.audio(found) || 'none'],
        ['Bit rate', format.bitrate(found.kbps || null)],
        ['Live for', format.duration(found.live_seconds)],
        ['Viewers', format.viewers(found.viewers)],
        ...(publisher ? [['Publisher', publisher]] : []),
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

/** Everybody's part. */
async function showPublic() {
    const { site, found, addresses } = await findStream(stream);
    showState(found ? 'good' : 'warn', found ? 'Live' : 'Not live');
    showHealth(found?.health, 'The stream is not live.');
    byId('facts').closest('section').hidden = !found;
    if (found) showFacts(found);
    showAddresses(byId('addresses'), addresses, stream);
    byId('addresses-none').hidden = addresses.length > 0;
    await recorded.refresh(site.origin, found !== null);
    updateShare(byId('share').firstElementChild, stream, site.origin);
}

const LIMITED = {
    password: 'These need the API, which requires a password. Sign in on the console, in this tab, and come back.',
    off: 'These need the API, which is switched off. The console shows how to switch it on.',
    loopback: "These need the API, which listens on the server's own machine only. The console shows how to open it.",
    https: 'These need the API, which has no HTTPS. The console shows how to switch it on.',
};

function showLimits(error) {
    for (const id of ['hour', 'viewers', 'tracks', 'happened', 'recorded']) byId(id).hidden = true;
    byId('limited').hidden = false;
    setText(byId('limited-text'), LIMITED[error.kind] ?? `These need the API. ${error.message}.`);
}

/** The kind and the address of a client; '' when it has left. */
async function publisherText(id) {
    try {
        const { client } = await api.get(`/api/v1/clients/${encodeURIComponent(id)}`);
        return client ? `${client.type} from ${client.ip}` : '';
    } catch (error) {
        if (error.kind !== 'refused') throw error;
        return '';
    }
}

/** The part of operators. A stream that is not live has none. */
async function showPrivate() {
    const since = hour.newest > 0 ? `&since=${hour.newest}` : '';
    const { data } = await api.get(`/api/v1/history?stream=${encodeURIComponent(streamUrl(stream))}${since}`);
    if (data.id !== streamId) hour.clear();
    streamId = data.id;
    hour.add(data.points);
    await clientTable.refresh();
    publisher = await publisherText(data.publisher);
    showCharts();
    showEvents(data.events);
    const { stream: live } = await api.get(`/api/v1/streams/${encodeURIComponent(streamId)}`);
    showTracks(live.track_list);
    const { dvrs } = await api.get('/api/v1/dvrs?count=10000');
    showRecordings((dvrs ?? []).filter((one) => one.stream_url === streamUrl(stream)));
    byId('limited').hidden = true;
    for (const id of ['hour', 'viewers', 'happened']) byId(id).hidden = false;
}

async function refresh() {
    try {
        await showPublic();
    } catch (error) {
        if (!error.kind) throw error;
        showState('bad', error.kind === 'off' ? 'Not listed' : 'No response');
        if (error.kind !== 'off') return RETRY_MS;
    }
    try {
        await showPrivate();
    } catch (error) {
        if (!error.kind) throw error;
        if (error.code !== STREAM_NOT_FOUND) showLimits(error);
    }
    return REFRESH_MS;
}

const STREAM_NOT_FOUND = 2048;
byId('share').append(createShare());
setText(byId('name'), stream.name);
setText(byId('place'), [stream.app, stream.vhost === DEFAULT_VHOST ? '' : stream.vhost].filter(Boolean).join(' · '));
document.title = `${stream.name} · Millrace`;
const player = new StreamPlayer(stream);
const recorded = new RecordedParts({ api, stream, player, onChange: () => polling.wake() });
const polling = repeat(refresh);
if (!recorded.playNamed()) player.start();
