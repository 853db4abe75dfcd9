// The health of a stream, as the server states it: [{ level, code, text }].
import { byId, element, setText, showList } from './dom.js';

const DOTS = { error: 'bad', warning: 'warn' };
const NAMES = { error: 'Problem', warning: 'Advice' };

/** The page has the list #health and the text #healthy. `absent`: the text without a stream. */
export function showHealth(notes, absent) {
    const list = (Array.isArray(notes) ? notes : []).filter((note) => note && typeof note.text === 'string');
    byId('healthy').hidden = list.length > 0;
    setText(byId('healthy'), notes ? 'The server finds nothing wrong with this stream.' : absent);
    showList(
        byId('health'),
        list,
        (note) => note.code,
        () => element('li', {}, element('span', { class: 'dot', 'aria-hidden': 'true' }), element('span')),
        (row, { level, text }) => {
            row.firstElementChild.className = `dot ${DOTS[level] ?? ''}`;
            setText(row.lastElementChild, `${NAMES[level] ?? 'Note'}: ${text}`);
        },
    );
}
