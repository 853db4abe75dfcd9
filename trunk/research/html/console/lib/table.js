// A table over all its items, in pages, with search and order. The list of columns defines the header, the cells and the labels of
// narrow screens. Of a long list, all items are needed only by those who turn, search or sort.
import { byId, element, setText, showList } from './dom.js';

const PAGE = 50;
/** The most that the API gives of a list. */
export const ITEMS_MAX = 10_000;
const collator = new Intl.Collator(undefined, { numeric: true });

function compare(a, b) {
    if (typeof a === 'number' || typeof b === 'number') return (Number.isFinite(a) ? a : -1) - (Number.isFinite(b) ? b : -1);
    return collator.compare(String(a), String(b));
}

export class Table {
    /**
     * id: there are #ID-box (around the table's place), #ID (that place), #ID-none and #ID-pager, and #ID-search if it has one.
     * columns: [name, textOf(item), class, valueOf(item)]: the first one is the row's header, and the values of numbers give the
     * order. createAction(item): the element at the row's end; updateAction(element, item). onNeed(): more items are needed.
     */
    constructor({ id, columns, keyOf, createAction, updateAction = () => {}, onNeed = () => {} }) {
        Object.assign(this, { id, columns, keyOf, createAction, updateAction, onNeed });
        this.items = [];
        this.total = 0;
        this.start = 0;
        this.order = null;
        this.heads = columns.map(([name, , type], at) => this.#createHead(name, type, at));
        const actions = element('th', { scope: 'col' }, element('span', { class: 'out-of-sight' }, 'Actions'));
        this.body = element('tbody');
        const caption = element('caption', { class: 'out-of-sight' }, id);
        byId(id).append(caption, element('thead', {}, element('tr', {}, ...this.heads, actions)), this.body);
        this.label = element('span', { class: 'muted small' });
        this.before = element('button', { type: 'button', class: 'little', onclick: () => this.#turn(-PAGE) }, 'Previous');
        this.more = element('button', { type: 'button', class: 'little', onclick: () => this.#turn(PAGE) }, 'Next');
        byId(`${id}-pager`).append(this.before, this.label, this.more);
        this.search = byId(`${id}-search`);
        this.search?.addEventListener('input', () => this.#turn(-Infinity));
    }

    /** The items to ask the API for. */
    get query() {
        const needsAll = this.start > 0 || this.order !== null || Boolean(this.search?.value);
        return `count=${needsAll ? ITEMS_MAX : PAGE}`;
    }

    /** The items of the answer, and how many there are in all. */
    show(items, total = items.length) {
        this.items = items;
        this.total = Math.max(total, items.length);
        this.#draw();
    }

    get #isWhole() {
        return this.items.length >= Math.min(this.total, ITEMS_MAX);
    }

    #createHead(name, type, at) {
        const sort = element('button', { type: 'button', class: 'sort', onclick: () => this.#sort(at) }, name);
        return element('th', { scope: 'col', class: type === 'number' && type }, sort);
    }

    #sort(at) {
        const isDown = this.order?.at === at ? !this.order.isDown : this.columns[at][2] === 'number';
        this.order = { at, isDown };
        this.heads.forEach((head, column) => {
            if (column === at) head.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
            else head.removeAttribute('aria-sort');
        });
        this.#turn(-Infinity);
    }

    /** Those that have all words of the search, in order. */
    #selected() {
        const words = (this.search?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
        // Nobody searches for a number that changes all the time.
        const searched = this.columns.filter(([, , type]) => type !== 'number');
        const has = (item) => {
            const text = searched.map(([, textOf]) => textOf(item)).join(' ').toLowerCase();
            return words.every((word) => text.includes(word));
        };
        const found = words.length > 0 ? this.items.filter(has) : this.items;
        if (!this.order) return found;
        const [, textOf, , valueOf = textOf] = this.columns[this.order.at];
        const keyed = found.map((item) => [valueOf(item), item]);
        keyed.sort(([a], [b]) => (this.order.isDown ? compare(b, a) : compare(a, b)));
        return keyed.map(([, item]) => item);
    }

    #draw() {
        const found = this.#selected();
        const count = this.#isWhole ? found.length : this.total;
        if (!this.#isWhole && this.start >= found.length && found.length > 0) return; // they are about to come
        if (this.start >= found.length) this.start = Math.max(0, Math.floor((found.length - 1) / PAGE) * PAGE);
        const page = found.slice(this.start, this.start + PAGE);
        showList(
            this.body,
            page,
            this.keyOf,
            (item) => this.#createRow(item),
            (row, item) => this.#updateRow(row, item),
        );
        byId(`${this.id}-box`).hidden = page.length === 0;
        byId(`${this.id}-none`).hidden = page.length > 0;
        byId(`${this.id}-pager`).hidden = count <= PAGE;
        this.before.disabled = this.start === 0;
        this.more.disabled = this.start + PAGE >= count;
        setText(this.label, page.length > 0 ? `${this.start + 1} to ${this.start + page.length} of ${count}` : '');
    }

    #createRow(item) {
        const cells = this.columns.map(([name, , type], at) =>
            at === 0 ? element('th', { scope: 'row', class: type }) : element('td', { class: type, 'data-label': name }),
        );
        return element('tr', {}, ...cells, element('td', { class: 'act' }, this.createAction(item)));
    }

    #updateRow(row, item) {
        this.columns.forEach(([, textOf], at) => setText(row.children[at], textOf(item)));
        this.updateAction(row.lastElementChild.firstElementChild, item);
    }

    #turn(by) {
        this.start = Math.max(0, this.start + by);
        this.#draw();
        if (!this.#isWhole) this.onNeed();
    }
}
