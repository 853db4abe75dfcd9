// The last hour of the server or of a stream: points of /api/v1/history, and what charts show of them. No DOM here.
import { viewersByProtocol } from './format.js';

const HOUR_S = 3600;
const PROTOCOLS_MAX = 5;

export class PointsOfHour {
    constructor() {
        this.points = [];
    }

    /** The time of the newest one, for since=; 0 for all. */
    get newest() {
        return this.points.at(-1)?.time ?? 0;
    }

    clear() {
        this.points = [];
    }

    /** New points replace known ones of the same time. */
    add(points) {
        const known = new Set(points.map((point) => point.time));
        this.points = [...this.points.filter((point) => !known.has(point.time)), ...points].sort((a, b) => a.time - b.time);
        while (this.points.length > 0 && this.points[0].time < this.newest - HOUR_S) this.points.shift();
    }

    /** For Chart.set(): the values of functions of a point; null is a gap. */
    over(...read) {
        return this.points.map((point) => ({ time: point.time * 1000, values: read.map((one) => one(point) ?? NaN) }));
    }

    /** Arguments of Chart.set(): all viewers, and those of each protocol if there are several. */
    viewers() {
        const all = (point) => viewersByProtocol(point.viewers);
        const names = [...new Set(this.points.flatMap((point) => all(point).map(({ name }) => name)))].slice(0, PROTOCOLS_MAX);
        const of = (name) => (point) => all(point).find((one) => one.name === name)?.count ?? 0;
        const sum = (point) => all(point).reduce((total, one) => total + one.count, 0);
        if (names.length <= 1) return [this.over(sum), [names[0] ?? 'all']];
        return [this.over(sum, ...names.map(of)), ['all', ...names]];
    }
}
