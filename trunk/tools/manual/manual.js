// The search of the manual, and the state of its menu. Without JavaScript the menu is there all the same.
import { announce, byId, element } from '../console/lib/dom.js';

const SHOWN = 12;
const WIDE = matchMedia('(min-width: 60rem)');

const contents = byId('contents');
const showMenu = () => {
    contents.open = WIDE.matches;
};
WIDE.addEventListener('change', showMenu);
showMenu();
contents.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });

let entries = null;

async function load() {
    entries ??= fetch('search.json').then((answer) => answer.json());
    return entries;
}

/** Sections that have all words, those with the words in their headings first. */
function find(all, words) {
    const rank = (entry) => {
        const heading = `${entry.title} ${entry.heading}`.toLowerCase();
        const text = entry.text.toLowerCase();
        if (!words.every((word) => heading.includes(word) || text.includes(word))) return 0;
        return 1 + words.filter((word) => heading.includes(word)).length;
    };
    return all
        .map((entry) => ({ entry, rank: rank(entry) }))
        .filter((one) => one.rank > 0)
        .sort((a, b) => b.rank - a.rank)
        .slice(0, SHOWN)
        .map((one) => one.entry);
}

async function search() {
    const words = byId('query').value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = byId('found');
    found.hidden = words.length === 0;
    if (found.hidden) return;
    const results = find(await load(), words);
    const rows = results.map((one) => {
        const name = one.heading === one.title ? one.title : `${one.title}: ${one.heading}`;
        return element('li', {}, element('a', { href: `${one.page}.html#${one.anchor}` }, name));
    });
    found.replaceChildren(...(rows.length > 0 ? rows : [element('li', { class: 'muted small' }, 'Nothing found')]));
    announce(rows.length === 1 ? 'One section found' : `${rows.length} sections found`);
}

byId('search').hidden = false;
byId('query').addEventListener('input', search);
