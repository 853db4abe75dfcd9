// The page of the HTTP API: shows the OpenAPI description of the server that sent the page.
import { byId, element, setLink, setText } from './dom.js';
import { usualSite } from './links.js';
import { readSite, siteOrigin } from './site.js';

const METHODS = ['get', 'post', 'patch', 'delete'];
const DEPTH_MAX = 8;

const typeOf = (schema) => {
    const types = [schema.type ?? 'any'].flat();
    const nullable = types.includes('null') ? ' or null' : '';
    const one = types.find((type) => type !== 'null');
    return (one === 'array' ? `list of ${schema.items?.type ?? 'any'}s` : one) + nullable;
};

/** The members of an answer as rows [name, type, text], nested ones as a.b and a[].b. */
function membersOf(schema, prefix = '', depth = 0) {
    if (!schema || depth > DEPTH_MAX) return [];
    const rows = [];
    for (const [name, inner] of Object.entries(schema.properties ?? {})) {
        const path = prefix + name;
        const optional = schema.required?.includes(name) ? '' : 'not always. ';
        rows.push([path, typeOf(inner), `${optional}${inner.description ?? ''}`]);
        if (inner.items) rows.push(...membersOf(inner.items, `${path}[].`, depth + 1));
        else rows.push(...membersOf(inner, `${path}.`, depth + 1));
    }
    const values = schema.additionalProperties;
    if (values && values !== true) {
        rows.push([`${prefix}*`, typeOf(values), 'each']);
        rows.push(...membersOf(values, `${prefix}*.`, depth + 1));
    }
    return rows;
}

function table(names, rows) {
    const head = element('tr', {}, ...names.map((name) => element('th', { scope: 'col' }, name)));
    const lines = rows.map((row) => element('tr', {}, ...row.map((text, at) => element('td', at === 0 ? { class: 'mono' } : {}, text))));
    return element(
        'div',
        { class: 'scroll', tabindex: '0' },
        element('table', {}, element('thead', {}, head), element('tbody', {}, ...lines)),
    );
}

function resolved(api, response) {
    const name = response.$ref?.split('/').pop();
    return name ? api.components.responses[name] : response;
}

function statusRows(api, responses) {
    return Object.entries(responses).map(([status, response]) => {
        const whole = resolved(api, response);
        return [status, Object.keys(whole.content ?? {}).join(', ') || '–', whole.description];
    });
}

function detailsOf(api, operation, ports) {
    const parts = [element('p', { class: 'muted small' }, `Ports: ${ports.join(', ')}`)];
    const add = (title, names, rows) => rows.length && parts.push(element('h4', {}, title), table(names, rows));
    const parameters = (operation.parameters ?? []).map((one) => [one.name, one.in, one.schema.type, one.description ?? '']);
    add('Parameters', ['Name', 'In', 'Type', 'Meaning'], parameters);
    for (const [type, { schema }] of Object.entries(operation.requestBody?.content ?? {})) {
        parts.push(element('h4', {}, `Body: ${type}`));
        const members = membersOf(schema);
        if (members.length) parts.push(table(['Member', 'Type', 'Meaning'], members));
    }
    const answers = Object.values(operation.responses).map((response) => response.content?.['application/json']?.schema);
    add('Answer', ['Member', 'Type', 'Meaning'], membersOf(answers.find((schema) => schema?.properties)));
    add('Statuses', ['Status', 'Type', 'Meaning'], statusRows(api, operation.responses));
    return element('div', {}, ...parts);
}

function endpoint(api, path, method, operation, ports) {
    const summary = element(
        'summary',
        {},
        element('span', { class: 'method mono' }, method.toUpperCase()),
        element('h3', { class: 'mono' }, path),
        element('span', { class: 'muted' }, operation.summary),
    );
    const shown = element('details', { class: 'endpoint', id: operation.operationId }, summary);
    // Filled when it is opened: most are never read.
    shown.addEventListener('toggle', () => {
        if (shown.children.length === 1) shown.append(detailsOf(api, operation, ports));
    });
    shown.dataset.words = `${method} ${path} ${operation.summary}`.toLowerCase();
    return shown;
}

function groupsOf(api) {
    const groups = new Map();
    for (const [path, item] of Object.entries(api.paths))
        for (const method of METHODS.filter((name) => item[name])) {
            const tag = item[method].tags[0];
            if (!groups.has(tag)) groups.set(tag, []);
            groups.get(tag).push(endpoint(api, path, method, item[method], item['x-ports']));
        }
    return groups;
}

/** Text between backquotes is code. */
const withCode = (text) => text.split('`').map((part, at) => (at % 2 === 1 ? element('code', {}, part) : part));

function show(api) {
    byId('about-text').append(...withCode(`Version ${api.info.version}. ${api.info.description}`));
    byId('about').hidden = false;
    for (const [tag, endpoints] of groupsOf(api))
        byId('endpoints').append(element('section', { class: 'card padded' }, element('h2', {}, tag), ...endpoints));
    const filter = () => {
        const wanted = byId('filter').value.trim().toLowerCase();
        let count = 0;
        for (const one of document.querySelectorAll('.endpoint')) {
            one.hidden = !one.dataset.words.includes(wanted);
            if (!one.hidden) count += 1;
        }
        for (const card of byId('endpoints').children) card.hidden = !card.querySelector('.endpoint:not([hidden])');
        setText(byId('said'), count === 1 ? '1 endpoint' : `${count} endpoints`);
    };
    byId('filter').addEventListener('input', filter);
    filter();
    const linked = document.getElementById(location.hash.slice(1));
    if (linked?.matches('.endpoint')) {
        linked.open = true;
        linked.scrollIntoView();
    }
}

function showState(kind, text) {
    byId('dot').className = `dot ${kind}`;
    setText(byId('state'), text);
}

/** The other pages are on the streaming port, which has the list of streams. */
async function showMenu() {
    let site = usualSite();
    try {
        site = (await readSite('?count=1')).origin;
    } catch (error) {
        if (error.kind === 'off') site = siteOrigin();
    }
    const pages = { streams: '', player: 'players/srs_player.html', webrtc: 'players/whep.html', publish: 'players/whip.html', manual: 'docs/' };
    for (const [name, path] of Object.entries(pages)) {
        setLink(byId(`to-${name}`), `${site}/${path}`);
        byId(`to-${name}`).hidden = false;
    }
}

async function start() {
    showMenu();
    try {
        const answer = await fetch('v1/openapi.json', { headers: { Accept: 'application/json' } });
        if (!answer.ok) throw new Error(`the server answers with status ${answer.status}`);
        show(await answer.json());
        showState('good', 'Connected');
    } catch (error) {
        setText(byId('problem-text'), `The description could not be read: ${error.message}.`);
        byId('problem').hidden = false;
        showState('bad', 'No description');
    }
}

start();
