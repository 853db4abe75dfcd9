// A table of the console, with pages. The list of columns defines the header, the cells and the labels of narrow screens.
import { byId, element, setText, showList } from './lib/dom.js';

const PAGE = 50;

export class Table {
    /**
     * id: there are #ID-box (around the table's place), #ID (that place), #ID-none and #ID-pager. columns: [name, textOf(item),
     * class], the first one is the row's header. createAction(item): the element at the row's end; updateAction(element, item).
     * onTurn(): another page is wanted.
     */
    constructor({ id, columns, keyOf, createAction, updateAction = () => {}, onTurn }) {
        Object.assign(this, { id, columns, keyOf, createAction, updateAction, onTurn, start: 0 });
        const heads = columns.map(([name, , type]) => element('th', { scope: 'col', class: type === 'number' && type }, name));
        const actions = element('th', { scope: 'col' }, element('span', { class: 'out-of-sight' }, 'Actions'));
        this.body = element('tbody');
        const caption = element('caption', { class: 'out-of-sight' }, id);
        byId(id).append(caption, element('thead', {}, element('tr', {}, ...heads, actions)), this.body);
        this.label = element('span', { class: 'muted small' });
        this.before = element('button', { type: 'button', class: 'little', onclick: () => this.#turn(-PAGE) }, 'Previous');
        this.more = element('button', { type: 'button', class: 'little', onclick: () => this.#turn(PAGE) }, 'Next');
        byId(`${id}-pager`).append(this.before, this.label, this.more);
    }

    /** For the API's list. */
    get query() {
        return `?start=${this.start}&count=${PAGE}`;
    }

    /** What the API gave for this page. An empty page after the first one goes back. */
    show(items) {
        showList(
            this.body,
            items,
            this.keyOf,
            (item) => this.#createRow(item),
            (row, item) => this.#updateRow(row, item),
        );
        byId(`${this.id}-box`).hidden = items.length === 0;
        byId(`${this.id}-none`).hidden = items.length > 0;
        byId(`${this.id}-pager`).hidden = this.start === 0 && items.length < PAGE;
        this.before.disabled = this.start === 0;
        this.more.disabled = items.length < PAGE;
        setText(this.label, items.length > 0 ? `${this.start + 1} to ${this.start + items.length}` : '');
        if (items.length === 0) this.start = Math.max(0, this.start - PAGE);
    }

    /** How many there are in all, as far as this page tells. */
    total(got) {
        return this.start > 0 || got >= PAGE ? `${this.start + got} or more` : String(got);
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
        this.onTurn();
    }
}
