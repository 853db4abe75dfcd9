// Filters and sorts long lists in parts, so that the page draws and answers in between.

const PART = 500;
const BREATH_MS = 8;
const collator = new Intl.Collator(undefined, { numeric: true });

export function compare(a, b) {
    if (typeof a === 'number' || typeof b === 'number') return (Number.isFinite(a) ? a : -1) - (Number.isFinite(b) ? b : -1);
    return collator.compare(String(a), String(b));
}

/** Lets the browser work after each few milliseconds of ours. */
export class Breath {
    /** isOver(): whether the result is of no use. */
    constructor(isOver) {
        this.isOver = isOver;
        this.began = performance.now();
    }

    /** Returns false when the work is to end. */
    async take() {
        if (performance.now() - this.began > BREATH_MS) {
            await new Promise((resolve) => setTimeout(resolve));
            this.began = performance.now();
        }
        return !this.isOver();
    }

    /** null when it was given up. */
    async filter(items, has) {
        const found = [];
        for (let at = 0; at < items.length; at += PART) {
            found.push(...items.slice(at, at + PART).filter(has));
            if (!(await this.take())) return null;
        }
        return found;
    }
}

function merged(left, right, order) {
    const all = [];
    let at = 0;
    for (const item of left) {
        while (at < right.length && order(right[at], item) < 0) all.push(right[at++]);
        all.push(item);
    }
    return all.concat(right.slice(at));
}

/** A new list, in order; equal items keep theirs. null when it was given up. */
export async function sorted(items, order, breath) {
    let runs = [];
    for (let at = 0; at < items.length; at += PART) {
        runs.push(items.slice(at, at + PART).sort(order));
        if (!(await breath.take())) return null;
    }
    while (runs.length > 1) {
        const longer = [];
        for (let at = 0; at < runs.length; at += 2) {
            longer.push(at + 1 < runs.length ? merged(runs[at], runs[at + 1], order) : runs[at]);
            if (!(await breath.take())) return null;
        }
        runs = longer;
    }
    return runs[0] ?? [];
}
