// Kicks a client after a question. The page has the dialog #confirm with #confirm-text, and #clients-note.
import { announce, byId, element, setText } from './dom.js';

function confirmed(client) {
    const dialog = byId('confirm');
    const what = client.publish ? 'It publishes: the stream ends for its players.' : 'It may reconnect at once.';
    byId('confirm-text').textContent = `${client.type} ${client.id} from ${client.ip}, ${client.url}. ${what}`;
    dialog.returnValue = 'no';
    dialog.showModal();
    return new Promise((resolve) =>
        dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true }),
    );
}

async function kickAfterAsking(api, client, button, onDone) {
    if (!(await confirmed(client))) return;
    button.disabled = true;
    try {
        await api.remove(`/api/v1/clients/${encodeURIComponent(client.id)}`);
        announce(`Client ${client.id} was kicked`);
        setText(byId('clients-note'), `${client.id} was kicked`);
    } catch (error) {
        if (!error.kind) throw error;
        announce(`Client ${client.id} could not be kicked: ${error.message}`);
        setText(byId('clients-note'), `${client.id} could not be kicked: ${error.message}`);
    }
    button.disabled = false;
    onDone();
}

export function kickButton(api, client, onDone) {
    const kick = element('button', { type: 'button', class: 'little', 'aria-label': `Kick client ${client.id}` }, 'Kick');
    kick.addEventListener('click', () => kickAfterAsking(api, client, kick, onDone));
    return kick;
}
