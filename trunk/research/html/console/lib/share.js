// A stream to share: the link of its page with a QR code, and the code that embeds its player.
import { copyButton, element, setText } from './dom.js';
import { qrCode, qrPath } from './qr.js';
import { embedPage, streamPage } from './site.js';

const SVG = 'http://www.w3.org/2000/svg';

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => text.replace(/[&<>"]/g, (letter) => ENTITIES[letter]);

/** The HTML that shows the player of a stream. */
export const embedCode = (stream, origin) =>
    `<iframe src="${escaped(embedPage(stream, origin))}" width="640" height="360" allow="autoplay; fullscreen"></iframe>`;

/** An image of the code; hidden when the text is too long for one. */
export function showQr(svg, text) {
    if (svg.dataset.text === text) return;
    svg.dataset.text = text;
    const rows = qrCode(text);
    svg.toggleAttribute('hidden', rows === null);
    if (!rows) return;
    const { path, size } = qrPath(rows);
    svg.setAttribute('viewBox', `0 0 ${size} ${size}`);
    svg.firstElementChild.setAttribute('d', path);
}

function createQr() {
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('class', 'qr');
    svg.setAttribute('role', 'img');
    svg.append(document.createElementNS(SVG, 'path'));
    return svg;
}

function createLine(name) {
    const code = element('code');
    const copy = copyButton(name, () => code.textContent);
    return element('div', { class: 'copy whole' }, code, copy);
}

/** An element for share(): closed at first. */
export function createShare() {
    return element(
        'details',
        { class: 'share' },
        element('summary', {}, 'Share and embed'),
        element(
            'div',
            { class: 'sharing' },
            createQr(),
            element(
                'div',
                { class: 'group' },
                element('p', { class: 'muted small' }, 'Link to its page'),
                createLine('the link'),
                element('p', { class: 'muted small' }, 'HTML for your own page'),
                createLine('the embed code'),
            ),
        ),
    );
}

export function updateShare(shown, stream, origin) {
    const link = streamPage(stream, origin);
    const [page, embed] = shown.querySelectorAll('code');
    setText(page, link);
    setText(embed, embedCode(stream, origin));
    const qr = shown.querySelector('.qr');
    qr.setAttribute('aria-label', `QR code: ${link}`);
    if (shown.open) showQr(qr, link);
    else shown.ontoggle = () => shown.open && showQr(qr, link);
}
