// The console: values, charts of the last hour, streams, clients, and the inside of the server. Data from the server is shown as text
// and never parsed as HTML.
import { CONF_HTTPS, CONF_OPEN } from './advice.js';
import { Api } from './lib/api.js';
import { Chart } from './lib/charts.js';
import { announce, byId, element, repeat, setLink, setText, showList } from './lib/dom.js';
import * as format from './lib/format.js';
import { PointsOfHour } from './lib/history.js';
import { kickButton } from './lib/kick.js';
import { usualSite } from './lib/links.js';
import { byName, DEFAULT_VHOST, siteOrigin, streamPage } from './lib/site.js';
import { ITEMS_MAX, Table } from './lib/table.js';
import { RecordedStreams } from './recorded.js';
import { readWork, showWork } from './work.js';

const REFRESH_MS = 2000;
const RETRY_MS = 5000;
// Long lists take a while: the pause is so many times as long as the last refresh.
const PAUSE_FACTOR = 5;
const HISTORY_MS = 10_000;

const api = new Api();
let site = '';
let service = '';
let lastSample = null;

const hour = new PointsOfHour();
let historyAt = 0;

const rate = new Chart({ title: 'Bandwidth', series: ['out', 'in'], format: format.bitrate, least: 100 });
const viewers = new Chart({ title: 'Viewers', series: ['all'], format: format.count, least: 5 });
const processor = new Chart({ title: 'Processor', series: ['server', 'machine'], format: format.percent, least: 0.05 });
const memory = new Chart({ title: 'Memory of the server', series: ['resident'], format: format.bytes, least: 2 ** 25, base: 1024 });
const lag = new Chart({
    title: 'Lag of the event loop',
    series: ['99 % of turns'],
    format: (value) => `${format.count(value)} ms`,
    least: 2,
});
byId('charts').append(...[rate, viewers, processor, memory, lag].map((chart) => chart.figure));

const streamTable = new Table({
    id: 'streams',
    columns: [
        ['Stream', nameOf],
        ['From', ({ stream }) => sourceOf(stream), 'long'],
        ['Video', ({ stream }) => format.video(stream) || '–'],
        ['Audio', ({ stream }) => format.audio(stream) || '–'],
        ['In', ({ stream }) => format.bitrate(stream.kbps?.recv_30s), 'number', ({ stream }) => stream.kbps?.recv_30s],
        ['Out', ({ stream }) => format.bitrate(stream.kbps?.send_30s), 'number', ({ stream }) => stream.kbps?.send_30s],
        ['Key frames', ({ stream }) => keyFrames(stream.gop), 'number', ({ stream }) => stream.gop?.seconds],
        ['Dropped', ({ stream }) => format.count(stream.dropped_packets), 'number', ({ stream }) => stream.dropped_packets],
        ['Clients', ({ stream }) => format.count(stream.clients), 'number', ({ stream }) => stream.clients],
        ['Forwards', ({ stream }) => forwardsOf(stream.forwards), 'long'],
    ],
    keyOf: ({ stream }) => stream.id,
    createAction: () => element('a', { class: 'button little' }, 'Open'),
    updateAction: (open, { stream, page }) => {
        setLink(open, page);
        open.setAttribute('aria-label', `Open the page of ${stream.name}`);
    },
});

const clientTable = new Table({
    id: 'clients',
    columns: [
        ['Client', (client) => client.id, 'mono'],
        ['Type', (client) => (client.rtc?.layer ? `${client.type} (${client.rtc.layer})` : client.type)],
        ['Address', (client) => client.ip, 'long'],
        ['Stream', (client) => client.url, 'long'],
        ['Rate', (client) => format.bitrate(format.rateOf(client)), 'number', format.rateOf],
        ['Sent', (client) => format.bytes(client.send_bytes), 'number', (client) => client.send_bytes],
        ['Received', (client) => format.bytes(client.recv_bytes), 'number', (client) => client.recv_bytes],
        ['Queued', (client) => (client.publish ? '–' : format.seconds(client.queue_delay_ms / 1000)), 'number', (client) => client.queue_delay_ms],
        ['Dropped', (client) => (client.publish ? '–' : format.count(client.dropped_packets)), 'number', (client) => client.dropped_packets],
        ['Connected', (client) => format.duration(client.alive), 'number', (client) => client.alive],
    ],
    keyOf: (client) => client.id,
    createAction: (client) => kickButton(api, client, () => polling.wake()),
    load: async (start, count) => {
        const { clients, total } = await api.get(`/api/v1/clients/?start=${start}&count=${count}`);
        showMore('clients', { total });
        return { items: clients, total };
    },
});

function nameOf({ stream, vhost }) {
    const notes = [vhost && vhost !== DEFAULT_VHOST ? vhost : '', stream.publish?.active ? '' : 'no publisher'].filter(Boolean);
    return `${stream.app}/${stream.name}${notes.length ? ` (${notes.join(', ')})` : ''}`;
}

/** Where the stream comes from: a publisher here, or an origin that this edge pulls it from. */
function sourceOf({ role, origin }) {
    if (role !== 'edge' || !origin) return role === 'origin' ? 'here' : '–';
    const round = format.isNumber(origin.rtt_ms) && origin.state === 'playing' ? `${Math.round(origin.rtt_ms)} ms` : '';
    const more = origin.state === 'playing' ? round : [origin.state, origin.last_error].filter(Boolean).join(': ');
    return [origin.url, more].filter(Boolean).join(', ');
}

/** How many of the forwards send, and what the first of the others waits for. */
function forwardsOf(forwards) {
    if (!forwards?.length) return '–';
    const other = forwards.find((forward) => forward.state !== 'sending');
    const text = `${forwards.length - forwards.filter((forward) => forward.state !== 'sending').length} of ${forwards.length}`;
    return other ? `${text}; ${[other.to, other.state, other.last_error].filter(Boolean).join(', ')}` : text;
}

/** The key frame interval, or the time since the last key frame when that is longer. */
function keyFrames(gop) {
    const apart = gop?.seconds;
    const since = gop?.since_key_frame;
    if (format.isNumber(since) && since > Math.max(2 * (apart ?? 0), 5)) return `none for ${format.duration(since)}`;
    return format.isNumber(apart) ? `every ${format.seconds(apart)}` : '–';
}

function showTiles(self, system, streamCount, kbps) {
    const rows = [
        ['Streams', streamCount, ''],
        ['Connections', format.count(system.conn_srs), ''],
        ['Out', format.bitrate(kbps?.out), `${format.bytes(system.srs_send_bytes)} total`],
        ['In', format.bitrate(kbps?.in), `${format.bytes(system.srs_recv_bytes)} total`],
        ['Processor', format.percent(self.cpu_percent), `machine ${format.percent(system.cpu_percent)}`],
        ['Memory', format.bytes(self.mem_percent * system.mem_ram_kbyte * 1024), `peak ${format.bytes(self.mem_kbyte * 1024)}`],
        ['Load', format.isNumber(system.load_1m) ? system.load_1m.toFixed(2) : '–', `${system.cpus_online} processors`],
        ['Uptime', format.duration(self.srs_uptime), `version ${self.version}`],
    ];
    showList(
        byId('tiles'),
        rows,
        ([name]) => name,
        ([name]) => element('div', { class: 'card tile' }, element('dt', {}, name), element('dd'), element('dd')),
        (shown, [, value, more]) => {
            setText(shown.children[1], value);
            setText(shown.children[2], more);
        },
    );
}

/** The rates since the last sample of the server; null until there are two. */
function ratesOf(system) {
    const now = { time: system.srs_sample_time, out: system.srs_send_bytes, in: system.srs_recv_bytes };
    const before = lastSample;
    if (!(now.time > 0) || now.time === before?.time) return before?.kbps ?? null;
    const took = before ? now.time - before.time : 0;
    // Bytes times 8, over milliseconds, are thousands of bits a second.
    const share = (name) => Math.max(0, ((now[name] - before[name]) * 8) / took);
    lastSample = { ...now, kbps: took > 0 ? { out: share('out'), in: share('in') } : null };
    return lastSample.kbps;
}

function showServer(answer, streamCount) {
    // A new service id means that the server was restarted: earlier samples do not belong to this run.
    if (service !== answer.service) {
        if (service) announce('The server has been restarted');
        service = answer.service;
        lastSample = null;
        hour.clear();
        historyAt = 0;
    }
    const { self, system } = answer.data;
    const kbps = ratesOf(system);
    showTiles(self, system, streamCount, kbps);
    const inUse = format.percent(system.mem_ram_percent);
    const machine = `${format.bytes(system.mem_ram_kbyte * 1024)} of memory in the machine, ${inUse} in use`;
    setText(byId('about'), `Version ${self.version}, process ${self.pid}, server ${answer.server}. ${machine}. ${self.argv}`);
}

function showStreams(streams, vhosts) {
    const names = new Map(vhosts.map((vhost) => [vhost.id, vhost.name]));
    const shown = streams.map((stream) => ({ ...stream, vhost: names.get(stream.vhost) ?? '' })).sort(byName);
    streamTable.show(shown.map((stream) => ({ stream, vhost: stream.vhost, page: streamPage(stream, site) })));
}

function showHistory(data) {
    hour.add(data.points);
    rate.set(hour.over((point) => point.send_kbps, (point) => point.recv_kbps));
    processor.set(hour.over((point) => point.cpu_percent, (point) => point.machine_cpu_percent));
    memory.set(hour.over((point) => point.mem_bytes));
    lag.set(hour.over((point) => point.lag_ms));
    viewers.set(...hour.viewers());
}

/** Load and capacity are bytes a second. */
function nodeText({ host, state, load, capacity, region, version }) {
    const kbps = (value) => format.bitrate((value * 8) / 1000);
    const sends = format.isNumber(load) ? `sends ${kbps(load)}${capacity > 0 ? ` of ${kbps(capacity)}` : ''}` : '';
    return [state, host, region, sends, version].filter(Boolean).map(String).join(', ');
}

/** Rows of an insight of the server: [name, value]. */
function showRows(id, rows) {
    byId(id).closest('section').hidden = rows.length === 0;
    showList(
        byId(id),
        rows,
        ([name]) => name,
        () => element('div', {}, element('dt'), element('dd')),
        (shown, [name, value]) => {
            setText(shown.firstElementChild, name);
            setText(shown.lastElementChild, value);
        },
    );
}

function showInside({ summaries, held, clusters, log }) {
    const workers = summaries.data.workers ?? [];
    showRows(
        'workers',
        workers.map((one) => [
            `Worker ${one.worker}, process ${one.pid}`,
            `${format.count(one.conn_srs)} connections, ${format.percent(one.cpu_percent)} CPU, ${format.bytes(one.mem_kbyte * 1024)} peak, up ${format.duration(one.srs_uptime)}`,
        ]),
    );
    const kinds = Object.entries(held.data?.kinds ?? {}).filter(([, kind]) => kind?.bytes > 0);
    const largest = kinds.sort(([, a], [, b]) => b.bytes - a.bytes);
    showRows(
        'memory',
        largest.map(([name, kind]) => [name.replace(/_/g, ' '), `${format.bytes(kind.bytes)}, ${format.count(kind.objects)} ${kind.objects === 1 ? 'object' : 'objects'}`]),
    );
    const nodes = Array.isArray(clusters.data?.cluster?.nodes) ? clusters.data.cluster.nodes : [];
    showRows('nodes', nodes.map((node) => [String(node.id), nodeText(node)]));
    const lines = [...(log.data?.warnings ?? [])].sort((a, b) => b.time - a.time).slice(0, 20);
    byId('log').closest('section').hidden = lines.length === 0;
    showList(
        byId('log'),
        lines,
        (line) => `${line.time} ${line.worker ?? ''} ${line.text}`,
        () => element('li', {}, element('span', { class: 'dot', 'aria-hidden': 'true' }), element('span')),
        (shown, line) => {
            shown.firstElementChild.className = `dot ${line.level === 'error' ? 'bad' : 'warn'}`;
            const times = line.times > 1 ? ` (${format.count(line.times)} times)` : '';
            const where = line.worker ? `worker ${line.worker}, ` : '';
            setText(shown.lastElementChild, `${format.time(line.time / 1000)} ${where}${line.text}${times}`);
        },
    );
}

/** What the server found in its conf file at the start or the last reload. */
function showWarnings(warnings) {
    byId('warnings').hidden = !warnings.length;
    showList(
        byId('warnings-list'),
        warnings,
        (warning) => warning,
        () => element('li'),
        (shown, warning) => setText(shown, warning),
    );
}

function showState(kind, text) {
    byId('dot').className = `dot ${kind}`;
    setText(byId('state'), text);
}

/** Why there is nothing to show: title, text, and what to set. */
const PROBLEMS = {
    loopback: () => ({
        title: 'The API is not reachable from this machine',
        text: `It listens on the server's own machine only, as it does by default. Open this page there (http://127.0.0.1...),
            or let the API listen on every address, with a password:`,
        conf: CONF_OPEN,
    }),
    off: () => ({
        title: 'The API is switched off',
        text: 'The console shows what the HTTP API reports. Switch it on, with a password:',
        conf: CONF_OPEN,
    }),
    https: () => ({
        title: 'The API has no HTTPS',
        text: `This page came over HTTPS, so the browser blocks requests to an API without HTTPS. Switch it on, with a password and
            the certificate of this page in place of KEY.pem and CERT.pem:`,
        conf: CONF_HTTPS,
    }),
    other: ({ base }) => ({
        title: 'Another server responds',
        text: `The server of this page has its API at ${base}, but a different server responds there. A container's port may be
            mapped to another one.`,
        remedy: 'Name the address of the API: add ?api=host:port to the address of this page.',
    }),
    unreachable: ({ base }) => ({
        title: 'The API does not respond',
        text: `${base} does not respond. Check that the server is running and that a firewall or a container does not block this port.`,
        remedy: 'If the API has another address, add ?api=host:port to the address of this page.',
    }),
    refused: ({ message }) => ({ title: 'The API refused', text: message }),
};

function showSignIn({ base, scheme, isWrong }) {
    const isToken = scheme.startsWith('Bearer');
    showState('warn', 'Signed out');
    byId('problem').hidden = true;
    byId('figures').hidden = true;
    setText(byId('sign-in-where'), base);
    byId('user-field').hidden = byId('user').disabled = isToken;
    setText(byId('password-label'), isToken ? 'Token' : 'Password');
    byId('sign-in-error').hidden = !isWrong;
    setText(byId('sign-in-error'), isWrong ? (isToken ? 'Wrong token.' : 'Wrong user or password.') : '');
    byId('sign-in').dataset.scheme = scheme;
    if (byId('sign-in').hidden || isWrong) {
        byId('sign-in').hidden = false;
        byId(isToken || isWrong ? 'password' : 'user').focus();
    }
    byId('password').value = '';
    return null;
}

function showProblem(error) {
    if (error.kind === 'password') return showSignIn(error);
    showState('bad', { refused: 'Refused', unreachable: 'No response' }[error.kind] ?? 'No API');
    // Keeps the last values visible when the server stops; the notice above them states it.
    const { title, text, remedy, conf } = PROBLEMS[error.kind](error);
    byId('sign-in').hidden = true;
    byId('problem').hidden = false;
    setText(byId('problem-title'), title);
    setText(byId('problem-text'), text.replace(/\s+/g, ' '));
    byId('problem-remedy').hidden = !remedy;
    setText(byId('problem-remedy'), remedy ?? '');
    byId('problem-conf').hidden = !conf;
    setText(byId('problem-conf').firstElementChild, conf ?? '');
    return RETRY_MS;
}

/** The other pages are on the streaming port. */
function showSite() {
    site = api.site ?? (new URLSearchParams(location.search).has('site') ? siteOrigin() : usualSite());
    setLink(byId('to-streams'), `${site}/`);
    setLink(byId('to-player'), `${site}/players/srs_player.html`);
    setLink(byId('to-webrtc'), `${site}/players/whep.html`);
    setLink(byId('to-publish'), `${site}/publish.html`);
    setLink(byId('to-manual'), `${site}/docs/`);
    for (const id of ['to-streams', 'to-player', 'to-webrtc', 'to-publish', 'to-manual']) byId(id).hidden = false;
}

/** What an older server, or one without the part, does not have. */
async function optional(path) {
    try {
        return await api.get(path);
    } catch (error) {
        if (error.kind !== 'refused') throw error;
        return {};
    }
}

/** The API gives no more than so many entries of a list. */
function showMore(name, { total }) {
    byId(`${name}-part`).hidden = !(total > ITEMS_MAX);
    setText(byId(`${name}-part`), `The first ${format.count(ITEMS_MAX)} of ${format.count(total)} are shown.`);
}

async function refresh() {
    const began = performance.now();
    try {
        const summaries = await api.get('/api/v1/summaries');
        showSite();
        const isDue = Date.now() - historyAt >= HISTORY_MS;
        const slow = ['/api/v1/memory', '/api/v1/clusters', '/api/v1/warnings', `/api/v1/history?since=${hour.newest}`];
        const [streams, , vhosts, conf, ...inside] = await Promise.all([
            api.get(`/api/v1/streams/?count=${ITEMS_MAX}`),
            clientTable.refresh(),
            api.get('/api/v1/vhosts/?count=100'),
            api.get('/api/v1/configs/warnings'),
            ...(isDue ? [...slow.map(optional), readWork(optional)] : []),
        ]);
        showServer(summaries, streams.total ?? streams.streams.length);
        if (isDue) {
            const [held, clusters, log, history, work] = inside;
            showWork(byId('work'), work);
            await recorded.refresh(optional, site);
            showInside({ summaries, held, clusters, log });
            if (history.data) showHistory(history.data);
            historyAt = Date.now();
        }
        showStreams(streams.streams, vhosts.vhosts ?? []);
        showMore('streams', streams);
        showWarnings(conf.warnings ?? []);
        byId('problem').hidden = true;
        byId('sign-in').hidden = true;
        byId('figures').hidden = false;
        byId('signed-in').hidden = !api.isSignedIn;
        showState('good', 'Connected');
        return Math.max(REFRESH_MS, PAUSE_FACTOR * (performance.now() - began));
    } catch (error) {
        if (!error.kind) throw error;
        api.site = error.site ?? api.site;
        showSite();
        byId('signed-in').hidden = true;
        return showProblem(error);
    }
}

const recorded = new RecordedStreams(api);
const polling = repeat(refresh);
byId('sign-in-form').addEventListener('submit', (event) => {
    event.preventDefault();
    api.signIn(byId('sign-in').dataset.scheme, byId('user').value, byId('password').value);
    polling.wake();
});
byId('sign-out').addEventListener('click', () => {
    api.signOut();
    polling.wake();
});
