// A table that draws the visible rows only, so that ten thousand cost as much as fifty. The list of columns defines the header, the cells and
// the labels of narrow screens. Of a long list, the API is asked for the visible rows; all are needed only by those who search or sort.
import { byId, element, setText, showList } from './dom.js';
import { Breath, compare, sorted } from './order.js';

/** The most that the API gives of a list. */
export const ITEMS_MAX = 10_000;
// Items of one request: a longer answer would hold the page up while it is parsed.
const PART = 1000;
// Rows that are drawn above and below the visible ones, and the rows of one request for these.
const MARGIN = 10;
const WINDOW = 100;
// A list of more rows scrolls in its own box; a shorter one is drawn as a whole.
const LONG = 30;
const ROW_PIXELS = 44;
const BOX_PIXELS = 480;

export class Table {
    /**
     * id: there are #ID-box (around the table's place), #ID (that place), #ID-none and #ID-place (which rows are visible), and
     * #ID-search if it has one.
     * columns: [name, textOf(item), class, valueOf(item)]: the first one is the row's header, and the values of numbers give the
     * order. createAction(item): the element at the row's end; updateAction(element, item).
     * load(start, count): { items, total } of the API; without it, show() has the items.
     */
    constructor({ id, columns, keyOf, createAction = () => '', updateAction = () => {}, load = null }) {
        Object.assign(this, { id, columns, keyOf, createAction, updateAction, load });
        this.items = []; // all, or those from `start` on
        this.start = 0;
        this.isWhole = load === null;
        this.total = 0;
        this.found = null; // of all, those that are searched for, in order
        this.order = null;
        this.rowPixels = ROW_PIXELS;
        this.heads = columns.map(([name, , type], at) => this.#createHead(name, type, at));
        const actions = element('th', { scope: 'col' }, element('span', { class: 'out-of-sight' }, 'Actions'));
        this.body = element('tbody');
        this.table = byId(id);
        this.table.append(element('caption', { class: 'out-of-sight' }, id), element('thead', {}, element('tr', {}, ...this.heads, actions)), this.body);
        this.rows = element('div');
        this.table.replaceWith(this.rows);
        this.rows.append(this.table);
        this.box = byId(`${id}-box`);
        this.box.addEventListener('scroll', () => this.#drawSoon());
        new ResizeObserver(() => this.#drawSoon()).observe(this.box);
        this.search = byId(`${id}-search`);
        this.search?.addEventListener('input', () => this.#change());
    }

    get #needsAll() {
        return this.order !== null || Boolean(this.search?.value);
    }

    /** Items that are all there. */
    show(items) {
        this.#hold(items, items.length);
        return this.#select();
    }

    /** Requests the rows that are needed now. One request at a time: a call during another one is served after it. */
    refresh() {
        this.isDue = true;
        this.working ??= this.#work().finally(() => (this.working = null));
        return this.working;
    }

    async #work() {
        while (this.isDue) {
            this.isDue = false;
            await (this.#needsAll ? this.#loadAll() : this.#loadWindow());
        }
    }

    async #loadWindow() {
        const start = this.#windowStart();
        const { items, total = items.length } = await this.load(start, WINDOW);
        // It was shorter than it is now.
        if (items.length === 0 && start > 0 && total > 0) this.box.scrollTop = 0;
        Object.assign(this, { items, start, isWhole: items.length >= total, found: null });
        this.total = Math.max(Math.min(total, ITEMS_MAX), items.length);
        this.#draw();
    }

    async #loadAll() {
        const all = new Map();
        for (let start = 0, total = Infinity; start < Math.min(total, ITEMS_MAX); start += PART) {
            const answer = await this.load(start, Math.min(PART, ITEMS_MAX - start));
            // Clients that come and go move the others: one may be in two answers.
            for (const item of answer.items) all.set(this.keyOf(item), item);
            total = answer.items.length > 0 ? (answer.total ?? answer.items.length) : 0;
        }
        this.#hold([...all.values()], all.size);
        await this.#select();
    }

    #hold(items, total) {
        Object.assign(this, { items, total, start: 0, isWhole: true });
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
        this.#change();
    }

    /** Another search or order: from the top. */
    #change() {
        this.box.scrollTop = 0;
        if (this.isWhole) this.#select();
        // The page's own requests find out what is wrong.
        else this.refresh().catch(() => {});
    }

    /** Of the items, those that have all words of the search, in order. Works in parts, so that the page answers meanwhile. */
    async #select() {
        const turn = (this.turn = (this.turn ?? 0) + 1);
        const breath = new Breath(() => turn !== this.turn);
        const words = (this.search?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
        // Nobody searches for a number that changes all the time.
        const searched = this.columns.filter(([, , type]) => type !== 'number');
        const has = (item) => {
            const text = searched.map(([, textOf]) => textOf(item)).join(' ').toLowerCase();
            return words.every((word) => text.includes(word));
        };
        let found = words.length > 0 ? await breath.filter(this.items, has) : this.items;
        if (found && this.order) {
            const [, textOf, , valueOf = textOf] = this.columns[this.order.at];
            const keyed = found.map((item) => [valueOf(item), item]);
            const ordered = await sorted(keyed, ([a], [b]) => (this.order.isDown ? compare(b, a) : compare(a, b)), breath);
            found = ordered && ordered.map(([, item]) => item);
        }
        if (!found) return; // a newer search or order has replaced this one
        this.found = found;
        this.#draw();
    }

    get #count() {
        return this.found ? this.found.length : this.total;
    }

    /** The item of a row; undefined while it is requested. */
    #itemAt(row) {
        return this.found ? this.found[row] : this.items[row - this.start];
    }

    #visible() {
        if (this.#count <= LONG) return { first: 0, last: Math.max(1, this.#count) };
        const pixels = this.box.clientHeight || BOX_PIXELS;
        const first = Math.floor(this.box.scrollTop / this.rowPixels);
        // The header stays above the rows.
        const below = this.box.scrollTop + pixels - (this.heads[0].offsetHeight ?? 0);
        return { first, last: Math.max(first + 1, Math.ceil(below / this.rowPixels)) };
    }

    /** The first row of the next request. */
    #windowStart() {
        return Math.max(0, this.#visible().first - (WINDOW >> 2));
    }

    #drawSoon() {
        this.isAsked ||= Boolean(requestAnimationFrame(() => {
            this.isAsked = false;
            this.#draw();
        }));
    }

    #draw() {
        const count = this.#count;
        this.box.hidden = count === 0;
        this.box.classList.toggle('tall', count > LONG);
        byId(`${this.id}-none`).hidden = count > 0;
        const visible = this.#visible();
        const first = Math.max(0, Math.min(visible.first, count - 1) - MARGIN);
        const last = Math.min(count, visible.last + MARGIN);
        const drawn = Array.from({ length: Math.max(0, last - first) }, (_, at) => ({ row: first + at, item: this.#itemAt(first + at) }));
        showList(
            this.body,
            drawn,
            ({ row, item }) => (item ? `item ${this.keyOf(item)}` : `row ${row}`),
            ({ item }) => this.#createRow(item),
            (shown, { row, item }) => this.#updateRow(shown, row, item),
        );
        this.table.setAttribute('aria-rowcount', count + 1);
        if (drawn.every(({ item }) => item)) this.#measure();
        this.rows.style.paddingTop = `${first * this.rowPixels}px`;
        this.rows.style.paddingBottom = `${(count - last) * this.rowPixels}px`;
        this.#showPlace(count);
        // After an answer that lacks them, the page's next request is soon enough.
        if (drawn.some(({ item }) => !item) && this.#windowStart() !== this.start) this.refresh().catch(() => {});
    }

    #showPlace(count) {
        const { first, last } = this.#visible();
        const end = Math.min(count, last);
        setText(byId(`${this.id}-place`), count > end - first ? `${Math.min(first + 1, end)} to ${end} of ${count}` : '');
    }

    /** The mean height of a row, once for each width of the table. */
    #measure() {
        const width = this.box.clientWidth;
        const shown = this.body.children.length;
        if (shown === 0 || width === 0 || this.measuredWidth === width) return;
        this.measuredWidth = width;
        this.rowPixels = Math.max(1, this.body.getBoundingClientRect().height / shown);
    }

    #createRow(item) {
        const cells = this.columns.map(([name, , type], at) =>
            at === 0 ? element('th', { scope: 'row', class: type }) : element('td', { class: type, 'data-label': name }),
        );
        return element('tr', {}, ...cells, element('td', { class: 'act' }, item ? this.createAction(item) : ''));
    }

    #updateRow(shown, row, item) {
        shown.setAttribute('aria-rowindex', row + 2);
        if (!item) shown.style.height = `${this.rowPixels}px`;
        this.columns.forEach(([, textOf], at) => setText(shown.children[at], item ? textOf(item) : at === 0 ? '…' : ''));
        if (item) this.updateAction(shown.lastElementChild.firstElementChild, item);
    }
}
