// Shows the work of the server beside its clients: pulls, transcodes, forwards, recordings and uploads. Each part has a list of the API; a
// server without the part has no such list, and the console no such section.
import { element, setText, showList } from './lib/dom.js';
import * as format from './lib/format.js';

const COUNT_MAX = 1000;
const SHOWN_MAX = 100;
const GOOD = ['running', 'sending', 'recording', 'complete', 'idle', 'queued'];
const BAD = ['failed', 'unusable', 'conflict'];

const joined = (...parts) => parts.filter(Boolean).map(String).join(', ');
const bytes = (value, verb) => (value > 0 ? `${format.bytes(value)} ${verb}` : '');
const times = (value, verb) => (value > 0 ? `${verb} ${format.count(value)} ${value === 1 ? 'time' : 'times'}` : '');
const retry = (value) => (format.isNumber(value) ? `next attempt in ${format.seconds(value / 1000)}` : '');

/** title; path and name of the list; of an entry: its name, state, and text. */
const KINDS = [
    {
        title: 'Pulls and ingests',
        name: 'ingests',
        nameOf: ({ id, stream_url: stream, input }) => joined(stream ?? id, input),
        stateOf: (one) => (hasFailed(one) ? 'failed' : one.state),
        textOf: (one) =>
            joined(
                one.transport,
                one.tracks,
                bytes(one.recv_bytes, 'received'),
                one.lost_packets > 0 ? `${format.count(one.lost_packets)} packets lost` : '',
                times(one.restarts, 'restarted'),
                one.last_error,
                hasFailed(one) ? 'next attempt for the next viewer' : retry(one.next_attempt_ms),
            ),
    },
    {
        title: 'Transcodes',
        name: 'transcodes',
        nameOf: ({ stream_url: stream, renditions, engine, output }) => joined(stream, renditionsText(renditions), engine, output),
        stateOf: ({ state }) => state,
        isLate,
        textOf: (one) =>
            joined(
                format.isNumber(one.fps) ? `${format.count(Math.round(one.fps))} frames/s` : '',
                isLate(one) ? `too slow: ${one.speed.toFixed(2)} of real time` : '',
                one.dropped_packets > 0 ? `${format.count(one.dropped_packets)} packets not encoded` : '',
                format.isNumber(one.memory_bytes) ? `${format.bytes(one.memory_bytes)} of memory` : '',
                one.starts > 1 ? `${format.count(one.starts)} starts` : '',
                one.last_end,
            ),
    },
    {
        title: 'Forwards',
        name: 'forwards',
        nameOf: ({ stream_url: stream, to }) => joined(stream, to),
        stateOf: ({ state }) => state,
        textOf: ({ last_error: error }) => joined(error),
    },
    {
        title: 'Recordings',
        name: 'dvrs',
        nameOf: ({ stream_url: stream, file }) => joined(stream, file),
        stateOf: ({ error, active }) => (error ? 'failed' : active ? 'recording' : 'complete'),
        textOf: (one) => joined(format.duration(one.duration), format.bytes(one.bytes), one.error),
    },
    {
        title: 'Uploads',
        name: 'uploads',
        nameOf: ({ file, object }) => joined(file, object),
        stateOf: ({ state }) => state,
        textOf: (one) => joined(one.sent_bytes > 0 ? `${format.bytes(one.sent_bytes)} of ${format.bytes(one.bytes)}` : format.bytes(one.bytes), one.error),
    },
];

// On demand, and the latest attempt did not work.
function hasFailed({ state, last_error: error }) {
    return state === 'idle' && Boolean(error);
}

function isLate({ speed }) {
    return format.isNumber(speed) && speed < 0.95;
}

const works = (kind, one) => GOOD.includes(String(kind.stateOf(one))) && !kind.isLate?.(one);

function renditionsText(renditions) {
    return Array.isArray(renditions) ? renditions.map(({ name, kbps }) => joined(name, format.bitrate(kbps))).join('; ') : '';
}

const missing = new Set();

async function readList(name, read) {
    if (missing.has(name)) return [];
    const list = (await read(`/api/v1/${name}?count=${COUNT_MAX}`))[name];
    if (Array.isArray(list)) return list;
    missing.add(name);
    return [];
}

/** The lists, in the order of KINDS; `read` returns {} where the server has none, which then is not asked for again. */
export const readWork = (read) => Promise.all(KINDS.map(({ name }) => readList(name, read)));

function createSection({ title, name }) {
    const id = `${name}-title`;
    const head = element('div', { class: 'head' }, element('h2', { id }, title), element('p', { class: 'muted small' }));
    return element('section', { class: 'card padded', id: `work-${name}`, 'aria-labelledby': id }, head, element('ul', { class: 'notes' }));
}

const createEntry = () => element('li', {}, element('span', { class: 'dot', 'aria-hidden': 'true' }), element('span', {}, element('strong'), element('span')));

function updateEntry(shown, kind, one) {
    const state = String(kind.stateOf(one));
    const [dot, text] = shown.children;
    dot.className = `dot ${BAD.includes(state) ? 'bad' : works(kind, one) ? 'good' : 'warn'}`;
    setText(text.children[0], kind.nameOf(one));
    setText(text.children[1], `: ${joined(state, one.worker && `worker ${one.worker}`, kind.textOf(one))}`);
}

/** Shows the lists below `parent`; those that do not work come first. */
export function showWork(parent, lists) {
    const shown = KINDS.map((kind, at) => ({ kind, list: lists[at] })).filter(({ list }) => list.length > 0);
    showList(
        parent,
        shown,
        ({ kind }) => kind.name,
        ({ kind }) => createSection(kind),
        (section, { kind, list }) => {
            const ordered = [...list].sort((a, b) => works(kind, a) - works(kind, b)).slice(0, SHOWN_MAX);
            setText(section.querySelector('p'), list.length > SHOWN_MAX ? `${format.count(SHOWN_MAX)} of ${format.count(list.length)} are shown.` : '');
            showList(
                section.querySelector('ul'),
                ordered,
                (one) => `${kind.nameOf(one)} ${one.id ?? ''} ${one.worker ?? ''}`,
                createEntry,
                (entry, one) => updateEntry(entry, kind, one),
            );
        },
    );
}
