// The addresses of a stream: what a player of ours plays has a link, and each can be copied.
import { copyButton, element, setLink, setText, showList } from './dom.js';

// The player offers these formats for the addresses that are shown.
const NOT_SHOWN = ['ws-flv', 'ws-ts'];

function createAddress() {
    const code = element('code');
    const play = element('a', { class: 'button little' }, 'Play');
    const row = element('div', { class: 'copy' }, element('span'), code, element('div', { class: 'acts' }, play));
    row.lastElementChild.append(copyButton('the address', () => code.textContent));
    return row;
}

function updateAddress(row, { format: name, name: label, url, player }, stream) {
    row.dataset.link = name;
    const [shown, code, acts] = row.children;
    const [play, copy] = acts.children;
    setText(shown, label);
    setText(code, url);
    play.hidden = !player;
    if (player) setLink(play, player);
    play.setAttribute('aria-label', `Play ${stream.name} by ${label}`);
    copy.setAttribute('aria-label', `Copy the ${label} address of ${stream.name}`);
}

/** `addresses` of addressesOf(). */
export function showAddresses(parent, addresses, stream) {
    showList(
        parent,
        addresses.filter((one) => !NOT_SHOWN.includes(one.format)),
        (one) => one.format,
        createAddress,
        (row, one) => updateAddress(row, one, stream),
    );
}
