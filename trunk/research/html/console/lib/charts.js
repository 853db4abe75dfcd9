// Line charts in SVG, of one or two series, for a console: they show the last few minutes, in light and dark colours.
import { element, setText } from './dom.js';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 300;
const HEIGHT = 100;
const POINTS_MAX = 600;

function shape(tag, attributes) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
}

/** The next round number: 1, 2 or 5 times a power of ten (of 1024 for bytes, by `base`). */
export function roundUp(value, least, base = 1000) {
    if (!(value > least)) return least;
    const unit = base ** Math.floor(Math.log(value) / Math.log(base));
    for (const step of [1, 2, 5, 10, 20, 50, 100, 200, 500]) if (step * unit >= value) return step * unit;
    return base * unit;
}

export class Chart {
    /**
     * series: names, at most two. format(value): text of a value. least: the smallest full scale. most: the largest (1 for
     * shares). span: milliseconds that the chart shows.
     */
    constructor({ title, series, format, least, most = Infinity, base = 1000, span = 300_000 }) {
        Object.assign(this, { title, series, format, least, most, base, span, points: [] });
        this.keys = series.map((name) => element('span', {}, name));
        this.svg = shape('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img' });
        for (const y of [0, 0.5, 1])
            this.svg.append(shape('line', { class: 'grid', x1: 0, x2: WIDTH, y1: y * HEIGHT, y2: y * HEIGHT }));
        this.area = shape('polygon', {});
        this.lines = series.map((_, at) => shape('polyline', { class: `line-${at + 1}` }));
        this.svg.append(this.area, ...this.lines);
        this.top = element('span', {});
        this.age = element('span', {});
        this.figure = element(
            'figure',
            { class: 'chart card' },
            element('figcaption', {}, element('span', {}, title), element('span', { class: 'keys' }, ...this.keys)),
            this.svg,
            element('p', { class: 'scale' }, this.age, this.top),
        );
        this.#draw();
    }

    /** time in milliseconds, growing; one value for each series. A sample with a value that is no number is left out. */
    add(time, ...values) {
        if (![time, ...values].every(Number.isFinite)) return;
        this.points.push({ time, values });
        while (this.points.length > POINTS_MAX || this.points[0].time < time - this.span) this.points.shift();
        this.#draw();
    }

    /** What was measured no longer belongs together, after a restart of the server for one. */
    clear() {
        this.points = [];
        this.#draw();
    }

    #draw() {
        const last = this.points.at(-1);
        const largest = Math.max(0, ...this.points.flatMap((point) => point.values));
        const scale = Math.min(this.most, roundUp(largest, this.least, this.base));
        const x = (point) => (WIDTH * (1 - (last.time - point.time) / this.span)).toFixed(2);
        const y = (value) => (HEIGHT * (1 - Math.min(1, value / scale))).toFixed(2);
        this.lines.forEach((line, at) => {
            line.setAttribute('points', this.points.map((point) => `${x(point)},${y(point.values[at])}`).join(' '));
        });
        const first = this.points[0];
        const outline = this.points.map((point) => `${x(point)},${y(point.values[0])}`).join(' ');
        this.area.setAttribute('points', first ? `${x(first)},${HEIGHT} ${outline} ${x(last)},${HEIGHT}` : '');
        const now = this.series.map((name, at) => `${name} ${last ? this.format(last.values[at]) : '–'}`);
        this.keys.forEach((key, at) => setText(key, now[at]));
        this.svg.setAttribute('aria-label', `${this.title}: ${now.join(', ')}`);
        setText(this.top, `top ${this.format(scale)}`);
        setText(this.age, `last ${Math.round(this.span / 60_000)} minutes`);
    }
}
