// Drives one headless Chromium for browser.py: a JSON request a line on stdin, a JSON answer a line on stdout, in order.
//   driver.mjs CHROMIUM MODULES      MODULES: the folder whose node_modules has playwright-core
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import readline from 'node:readline';
import { setTimeout } from 'node:timers/promises';

const [executablePath, modules] = process.argv.slice(2);
const { chromium } = createRequire(path.join(modules, 'x.js'))('playwright-core');
const browser = await chromium.launch({
    executablePath,
    args: [
        ...['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--autoplay-policy=no-user-gesture-required'],
        // A camera and a microphone that need no permission, and WebRTC on 127.0.0.1.
        ...['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream', '--allow-loopback-in-peer-connection'],
    ],
});
const pages = new Map();
const axe = path.join(modules, 'node_modules/axe-core/axe.min.js');

const actions = {
    // A page in a context of its own: { options of the context }.
    async open({ page, options }) {
        const context = await browser.newContext(options);
        const made = await context.newPage();
        made.complaints = [];
        made.on('pageerror', (error) => made.complaints.push(String(error)));
        made.on('console', (message) => {
            // A resource that is not there is for the test to judge, by what the page shows.
            if (message.type() === 'error' && !/Failed to load resource|WebSocket connection to .* failed/.test(message.text()))
                made.complaints.push(message.text());
        });
        made.on('dialog', (dialog) => {
            made.complaints.push(`a dialog: ${dialog.message()}`);
            dialog.dismiss();
        });
        pages.set(page, made);
    },
    async close({ page }) {
        await pages.get(page).context().close();
        pages.delete(page);
    },
    goto: ({ page, url }) =>
        pages
            .get(page)
            .goto(url)
            .then(() => null),
    async eval({ page, code }) {
        for (let again = 20; ; --again) {
            try {
                return await pages.get(page).evaluate(code);
            } catch (error) {
                // The page goes on to another, or begins anew, in this moment: the next one answers.
                if (again === 0 || !/context was destroyed/.test(error.message)) throw error;
                await setTimeout(100);
                await pages.get(page).waitForLoadState();
            }
        }
    },
    // What axe-core finds wrong, as texts.
    async axe({ page }) {
        const made = pages.get(page);
        await made.evaluate(readFileSync(axe, 'utf8'));
        const { violations } = await made.evaluate(`axe.run(document, { resultTypes: ['violations'] })`);
        return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 120)).slice(0, 4).join(' | ')}`);
    },
    // Seconds of CPU time that the page's thread has worked; whatever else the machine does is not in them.
    async cpu({ page }) {
        const made = pages.get(page);
        made.session ??= await made.context().newCDPSession(made);
        await made.session.send('Performance.enable', { timeDomain: 'threadTicks' });
        const { metrics } = await made.session.send('Performance.getMetrics');
        return metrics.find(({ name }) => name === 'TaskDuration').value;
    },
    // The link of the page, in bits a second; 0: as fast as it can.
    async throttle({ page, bits }) {
        const made = pages.get(page);
        made.session ??= await made.context().newCDPSession(made);
        await made.session.send('Network.enable');
        const downloadThroughput = bits > 0 ? bits / 8 : -1;
        await made.session.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput, uploadThroughput: -1 });
    },
    click: ({ page, target, limit }) => pages.get(page).click(target, { timeout: limit }),
    fill: ({ page, target, text, limit }) => pages.get(page).fill(target, text, { timeout: limit }),
    select: ({ page, target, value, limit }) => pages.get(page).selectOption(target, value, { timeout: limit }),
    press: ({ page, key }) => pages.get(page).keyboard.press(key),
    shot: ({ page, file, whole }) =>
        pages
            .get(page)
            .screenshot({ path: file, fullPage: whole })
            .then(() => null),
    complaints: async ({ page }) => pages.get(page).complaints,
};

for await (const line of readline.createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    let answer;
    try {
        answer = { value: (await actions[request.action](request)) ?? null };
    } catch (error) {
        answer = { error: String(error.message ?? error).slice(0, 2000) };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
