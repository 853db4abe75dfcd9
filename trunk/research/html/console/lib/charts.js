// Line charts in SVG, of up to six series: they show the last minutes, in light and dark colours.
import { element, setText } from './dom.js';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 300;
const HEIGHT = 100;
const POINTS_MAX = 600;
const GAP_MS = 60_000;
// A chart that is set shows the shortest of these that has all its points, or the last one.
const SPANS = [5, 15, 30, 60].map((minutes) => minutes * 60_000);

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
     * series: names. format(value): text of a value. least: the smallest full scale. most: the largest (1 for
     * shares). span: milliseconds that the chart shows.
     */
    constructor({ title, series, format, least, most = Infinity, base = 1000, span = 300_000 }) {
        Object.assign(this, { title, format, least, most, base, span, points: [] });
        this.legend = element('span', { class: 'keys' });
        this.svg = shape('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img' });
        for (const y of [0, 0.5, 1])
            this.svg.append(shape('line', { class: 'grid', x1: 0, x2: WIDTH, y1: y * HEIGHT, y2: y * HEIGHT }));
        this.area = shape('path', { class: 'area' });
        this.mark = shape('line', { class: 'mark', y1: 0, y2: HEIGHT, visibility: 'hidden' });
        this.svg.append(this.area, this.mark);
        this.svg.addEventListener('pointermove', (event) => this.#point(event));
        this.svg.addEventListener('pointerleave', () => this.#point(null));
        this.top = element('span', {});
        this.age = element('span', {});
        this.figure = element(
            'figure',
            { class: 'chart card' },
            element('figcaption', {}, element('span', {}, title), this.legend),
            this.svg,
            element('p', { class: 'scale' }, this.age, this.top),
        );
        this.#name(series);
        this.#draw();
    }

    /** time in milliseconds, growing; one value for each series. A sample with a value that is no number is left out. */
    add(time, ...values) {
        if (![time, ...values].every(Number.isFinite)) return;
        this.points.push({ time, values });
        while (this.points.length > POINTS_MAX || this.points[0].time < time - this.span) this.points.shift();
        this.#draw();
    }

    /** All points: { time, values }; a value that is no number is a gap. `series`: other names from now on. */
    set(points, series = this.series) {
        if (series.join() !== this.series.join()) this.#name(series);
        const all = points.length ? points.at(-1).time - points[0].time : 0;
        this.span = SPANS.find((span) => span >= all) ?? SPANS.at(-1);
        const from = points.length ? points.at(-1).time - this.span : 0;
        this.points = points.filter(({ time }) => time >= from).slice(-POINTS_MAX);
        this.#draw();
    }

    /** What was measured no longer belongs together, after a restart of the server for one. */
    clear() {
        this.points = [];
        this.#draw();
    }

    #name(series) {
        this.series = series;
        this.keys = series.map((name, at) => element('span', { class: `key-${at + 1}` }, name));
        this.legend.replaceChildren(...this.keys);
        for (const line of this.lines ?? []) line.remove();
        this.lines = series.map((_, at) => shape('path', { class: `line line-${at + 1}` }));
        this.svg.append(...this.lines);
    }

    /** Shows the values at the pointer instead of the newest ones. */
    #point(event) {
        this.pointed = null;
        if (event && this.points.length > 0) {
            const { left, width } = this.svg.getBoundingClientRect();
            const time = this.points.at(-1).time - this.span * (1 - (event.clientX - left) / width);
            const distance = (point) => Math.abs(point.time - time);
            this.pointed = this.points.reduce((best, point) => (distance(point) < distance(best) ? point : best)).time;
        }
        this.#draw();
    }

    /** Runs of points with a value; a run ends where an interval is missing. */
    #runs(at) {
        const runs = [[]];
        let before = null;
        for (const point of this.points) {
            const isGap = before !== null && point.time - before > GAP_MS;
            if (isGap || !Number.isFinite(point.values[at])) runs.push([]);
            if (Number.isFinite(point.values[at])) runs.at(-1).push(point);
            before = point.time;
        }
        return runs.filter((run) => run.length > 0);
    }

    #draw() {
        const last = this.points.at(-1);
        const largest = Math.max(0, ...this.points.flatMap((point) => point.values.filter(Number.isFinite)));
        const scale = Math.min(this.most, roundUp(largest, this.least, this.base));
        const x = (point) => (WIDTH * (1 - (last.time - point.time) / this.span)).toFixed(2);
        const y = (value) => (HEIGHT * (1 - Math.min(1, value / scale))).toFixed(2);
        // A single point is a dot: a line without a length, which has round ends.
        const path = (run, at) => `M${run.map((point) => `${x(point)},${y(point.values[at])}`).join('L')}${run.length > 1 ? '' : 'h0'}`;
        this.lines.forEach((line, at) => line.setAttribute('d', this.#runs(at).map((run) => path(run, at)).join('')));
        const fill = (run) => `${path(run, 0)}L${x(run.at(-1))},${HEIGHT}L${x(run[0])},${HEIGHT}Z`;
        this.area.setAttribute('d', this.lines.length > 0 ? this.#runs(0).map(fill).join('') : '');
        const text = (value) => (Number.isFinite(value) ? this.format(value) : '–');
        const valuesOf = (point) => this.series.map((name, at) => `${name} ${point ? text(point.values[at]) : '–'}`);
        const now = valuesOf(last);
        const pointed = this.points.find((point) => point.time === this.pointed);
        valuesOf(pointed ?? last).forEach((value, at) => setText(this.keys[at], value));
        this.mark.setAttribute('visibility', pointed ? 'visible' : 'hidden');
        if (pointed) for (const end of ['x1', 'x2']) this.mark.setAttribute(end, x(pointed));
        this.svg.setAttribute('aria-label', `${this.title}: ${now.join(', ') || 'none'}`);
        setText(this.top, `top ${this.format(scale)}`);
        const age = `last ${Math.round(this.span / 60_000)} minutes`;
        setText(this.age, pointed ? new Date(pointed.time).toLocaleTimeString() : age);
    }
}
