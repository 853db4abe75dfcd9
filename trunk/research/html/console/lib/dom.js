// Small helpers over the DOM. Texts come from strangers (stream names, page addresses): nothing here, or in any page, parses
// HTML.

/** element('a', { class: 'button', href: '/x', onclick: f }, 'text', otherElement) */
export function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
        else made.setAttribute(name, value === true ? '' : String(value));
    }
    made.append(...children.filter((child) => child !== undefined && child !== null));
    return made;
}

export const byId = (id) => document.getElementById(id);

/** Writes only when it differs, so that a selection or a screen reader is not disturbed for nothing. */
export function setText(target, text) {
    if (target.textContent !== text) target.textContent = text;
}

export function setLink(target, address) {
    if (target.getAttribute('href') !== address) target.setAttribute('href', address);
}

/**
 * Makes the children of `parent` show `items` in their order. An item keeps its element as long as its key is in the list, so that focus
 * and selection survive a refresh. `create(item)` returns the element, `update(element, item)` fills it.
 */
export function showList(parent, items, keyOf, create, update) {
    const old = new Map();
    for (const child of parent.children) old.set(child.dataset.key, child);
    let place = parent.firstElementChild;
    for (const item of items) {
        const key = String(keyOf(item));
        let shown = old.get(key);
        old.delete(key);
        if (!shown) {
            shown = create(item);
            shown.dataset.key = key;
        }
        update(shown, item);
        if (shown === place) place = place.nextElementSibling;
        else parent.insertBefore(shown, place);
    }
    for (const gone of old.values()) gone.remove();
}

async function copy(text) {
    if (navigator.clipboard && window.isSecureContext) {
        await navigator.clipboard.writeText(text);
        return;
    }
    // Over plain http from another machine there is no clipboard object; the old way still works.
    const field = element('textarea', { class: 'out-of-sight', readonly: true, 'aria-hidden': 'true' });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    if (!done) throw new Error('refused');
}

/** A button that copies the current result of `textOf()` and shows the outcome. */
export function copyButton(name, textOf) {
    const button = element('button', { type: 'button', class: 'little', 'aria-label': `Copy ${name}` }, 'Copy');
    let timer = 0;
    button.addEventListener('click', async () => {
        let said = 'Copied';
        try {
            await copy(textOf());
        } catch {
            said = 'Not allowed';
        }
        button.textContent = said;
        announce(said === 'Copied' ? `${name} copied` : `The browser does not allow copying ${name}`);
        clearTimeout(timer);
        timer = setTimeout(() => (button.textContent = 'Copy'), 1500);
    });
    return button;
}

/** Tells screen readers; the page has <p id="said" role="status" class="out-of-sight">. */
export function announce(text) {
    const place = byId('said');
    if (place) place.textContent = text;
}

/**
 * Calls `work()` again and again, never two at a time, and not while the page is hidden. `work` returns the pause in milliseconds
 * until the next call, or null to stop until wake() is called.
 */
export function repeat(work) {
    let timer = 0;
    let running = false;
    let waiting = false;
    async function run() {
        clearTimeout(timer);
        if (running) return;
        if (document.hidden) {
            waiting = true;
            return;
        }
        running = true;
        let pause = null;
        try {
            pause = await work();
        } finally {
            running = false;
        }
        if (pause !== null) timer = setTimeout(run, pause);
    }
    document.addEventListener('visibilitychange', () => {
        if (!document.hidden && waiting) {
            waiting = false;
            run();
        }
    });
    run();
    return { wake: run };
}
