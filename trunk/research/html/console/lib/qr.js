// QR codes (ISO/IEC 18004) of a text: byte mode, error correction level M, versions 1 to 20: up to 666 bytes. No DOM here.

/** Of each version from 1: codewords of error correction in a block, and blocks as [number, data codewords]. Table 9. */
const BLOCKS = [
    [10, [[1, 16]]],
    [16, [[1, 28]]],
    [26, [[1, 44]]],
    [18, [[2, 32]]],
    [24, [[2, 43]]],
    [16, [[4, 27]]],
    [18, [[4, 31]]],
    [22, [[2, 38], [2, 39]]],
    [22, [[3, 36], [2, 37]]],
    [26, [[4, 43], [1, 44]]],
    [30, [[1, 50], [4, 51]]],
    [22, [[6, 36], [2, 37]]],
    [22, [[8, 37], [1, 38]]],
    [24, [[4, 40], [5, 41]]],
    [24, [[5, 41], [5, 42]]],
    [28, [[7, 45], [3, 46]]],
    [28, [[10, 46], [1, 47]]],
    [26, [[9, 43], [4, 44]]],
    [26, [[3, 44], [11, 45]]],
    [26, [[3, 41], [13, 42]]],
];
/** Of each version from 2: the first, the second and the last centre of alignment patterns; those between have equal distances. Table E.1. */
const ALIGNMENT = [
    [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50], [6, 30, 54], [6, 32, 58], [6, 34, 62],
    [6, 26, 46, 66], [6, 26, 48, 70], [6, 26, 50, 74], [6, 30, 54, 78], [6, 30, 56, 82], [6, 30, 58, 86], [6, 34, 62, 90],
];
const LEVEL_M = 0;
const MASKS = [
    (x, y) => (x + y) % 2 === 0,
    (x, y) => y % 2 === 0,
    (x) => x % 3 === 0,
    (x, y) => (x + y) % 3 === 0,
    (x, y) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2 === 0,
    (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
    (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
    (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

// The field of 256 elements with the polynomial x^8 + x^4 + x^3 + x^2 + 1.
const EXP = new Uint8Array(510);
const LOG = new Uint8Array(256);
for (let power = 0, value = 1; power < 255; power++) {
    EXP[power] = EXP[power + 255] = value;
    LOG[value] = power;
    value = (value << 1) ^ (value & 0x80 ? 0x11d : 0);
}

const product = (a, b) => (a && b ? EXP[LOG[a] + LOG[b]] : 0);

/** The coefficients after the first one, which is 1. */
function generator(degree) {
    let made = [1];
    for (let power = 0; power < degree; power++) {
        const next = [...made, 0];
        made.forEach((value, at) => (next[at + 1] ^= product(value, EXP[power])));
        made = next;
    }
    return made.slice(1);
}

function correction(data, divisor) {
    const rest = new Array(divisor.length).fill(0);
    for (const byte of data) {
        const factor = byte ^ rest.shift();
        rest.push(0);
        divisor.forEach((value, at) => (rest[at] ^= product(value, factor)));
    }
    return rest;
}

/** Data and error correction, in the order in which they are placed. */
function codewords(bytes, version) {
    const [degree, groups] = BLOCKS[version - 1];
    const sizes = groups.flatMap(([number, size]) => new Array(number).fill(size));
    const capacity = sizes.reduce((sum, size) => sum + size, 0);
    const bits = [];
    const put = (value, count) => {
        for (let at = count - 1; at >= 0; at--) bits.push((value >> at) & 1);
    };
    put(0b0100, 4);
    put(bytes.length, version < 10 ? 8 : 16);
    for (const byte of bytes) put(byte, 8);
    put(0, Math.min(4, capacity * 8 - bits.length));
    while (bits.length % 8) bits.push(0);
    const data = [];
    for (let at = 0; at < bits.length; at += 8) data.push(parseInt(bits.slice(at, at + 8).join(''), 2));
    for (let pad = 0xec; data.length < capacity; pad ^= 0xec ^ 0x11) data.push(pad);
    const divisor = generator(degree);
    let from = 0;
    const blocks = sizes.map((size) => data.slice(from, (from += size)));
    const checks = blocks.map((block) => correction(block, divisor));
    const column = (list, at) => list.filter((block) => at < block.length).map((block) => block[at]);
    const all = [];
    for (let at = 0; at < Math.max(...sizes); at++) all.push(...column(blocks, at));
    for (let at = 0; at < degree; at++) all.push(...column(checks, at));
    return all;
}

/** The value with the remainder of its division by the polynomial. */
function withRemainder(value, bits, polynomial) {
    let rest = value;
    for (let at = 0; at < bits; at++) rest = (rest << 1) ^ ((rest >> (bits - 1)) & 1 ? polynomial : 0);
    return (value << bits) | rest;
}

class Grid {
    constructor(version) {
        this.version = version;
        this.size = 17 + 4 * version;
        const rows = (value) => Array.from({ length: this.size }, () => new Array(this.size).fill(value));
        this.dark = rows(false);
        this.isFixed = rows(false);
        for (let at = 0; at < this.size; at++) {
            this.#fix(at, 6, at % 2 === 0);
            this.#fix(6, at, at % 2 === 0);
        }
        const far = this.size - 4;
        for (const [x, y] of [[3, 3], [far, 3], [3, far]]) this.#square(x, y, 4, (distance) => distance !== 2 && distance !== 4);
        const centres = version > 1 ? ALIGNMENT[version - 2] : [];
        const last = centres.length - 1;
        centres.forEach((x, i) =>
            centres.forEach((y, j) => {
                if ((i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0)) return;
                this.#square(x, y, 2, (distance) => distance !== 1);
            }),
        );
        this.format(0);
        if (version < 7) return;
        const text = withRemainder(version, 12, 0x1f25);
        for (let at = 0; at < 18; at++) {
            const [a, b] = [this.size - 11 + (at % 3), Math.floor(at / 3)];
            this.#fix(a, b, (text >> at) & 1);
            this.#fix(b, a, (text >> at) & 1);
        }
    }

    /** Level and mask, twice. */
    format(mask) {
        const bits = withRemainder((LEVEL_M << 3) | mask, 10, 0x537) ^ 0x5412;
        const bit = (at) => (bits >> at) & 1;
        for (let at = 0; at < 6; at++) this.#fix(8, at, bit(at));
        this.#fix(8, 7, bit(6));
        this.#fix(8, 8, bit(7));
        this.#fix(7, 8, bit(8));
        for (let at = 9; at < 15; at++) this.#fix(14 - at, 8, bit(at));
        for (let at = 0; at < 8; at++) this.#fix(this.size - 1 - at, 8, bit(at));
        for (let at = 8; at < 15; at++) this.#fix(8, this.size - 15 + at, bit(at));
        this.#fix(8, this.size - 8, true);
    }

    /** In columns of two from the right, upwards and downwards in turn; column 6 is a timing pattern. */
    place(bytes) {
        let at = 0;
        for (let right = this.size - 1; right > 0; right -= 2) {
            if (right === 6) right = 5;
            const isUpwards = ((right + 1) & 2) === 0;
            for (let step = 0; step < this.size; step++) {
                const y = isUpwards ? this.size - 1 - step : step;
                for (const x of [right, right - 1]) {
                    if (this.isFixed[y][x]) continue;
                    this.dark[y][x] = at < bytes.length * 8 && Boolean((bytes[at >> 3] >> (7 - (at & 7))) & 1);
                    at++;
                }
            }
        }
    }

    /** Twice is as before. */
    mask(number) {
        for (let y = 0; y < this.size; y++)
            for (let x = 0; x < this.size; x++)
                if (!this.isFixed[y][x] && MASKS[number](x, y)) this.dark[y][x] = !this.dark[y][x];
    }

    /** How hard it is to read. 7.8.3 */
    penalty() {
        const { size, dark } = this;
        let points = 0;
        const line = (cell) => {
            let text = '';
            for (let at = 0; at < size; at++) text += cell(at) ? '1' : '0';
            for (const run of text.match(/0{5,}|1{5,}/g) ?? []) points += run.length - 2;
            for (const pattern of ['10111010000', '00001011101'])
                for (let at = text.indexOf(pattern); at >= 0; at = text.indexOf(pattern, at + 1)) points += 40;
        };
        let count = 0;
        for (let y = 0; y < size; y++) {
            line((x) => dark[y][x]);
            line((x) => dark[x][y]);
            count += dark[y].filter(Boolean).length;
            for (let x = 0; y + 1 < size && x + 1 < size; x++) {
                const sum = dark[y][x] + dark[y][x + 1] + dark[y + 1][x] + dark[y + 1][x + 1];
                if (sum === 0 || sum === 4) points += 3;
            }
        }
        return points + 10 * Math.floor(Math.abs((count * 20) / (size * size) - 10));
    }

    #fix(x, y, isDark) {
        this.dark[y][x] = Boolean(isDark);
        this.isFixed[y][x] = true;
    }

    #square(x, y, radius, isDark) {
        for (let down = -radius; down <= radius; down++)
            for (let along = -radius; along <= radius; along++) {
                const [a, b] = [x + along, y + down];
                if (a >= 0 && b >= 0 && a < this.size && b < this.size) this.#fix(a, b, isDark(Math.max(Math.abs(along), Math.abs(down))));
            }
    }
}

/** The rows of the code, of booleans: true is dark. Null when the text is too long. */
export function qrCode(text) {
    const bytes = new TextEncoder().encode(text);
    const fits = ([, groups], at) => {
        const capacity = groups.reduce((sum, [number, size]) => sum + number * size, 0);
        return capacity * 8 >= 4 + (at + 1 < 10 ? 8 : 16) + bytes.length * 8;
    };
    const version = BLOCKS.findIndex(fits) + 1;
    if (version === 0) return null;
    const grid = new Grid(version);
    grid.place(codewords(bytes, version));
    const penalties = MASKS.map((_, mask) => {
        grid.format(mask);
        grid.mask(mask);
        const points = grid.penalty();
        grid.mask(mask);
        return points;
    });
    const best = penalties.indexOf(Math.min(...penalties));
    grid.format(best);
    grid.mask(best);
    return grid.dark;
}

/** The dark modules as the path of an SVG, with the quiet zone of 4 modules around. */
export function qrPath(rows) {
    const quiet = 4;
    let path = '';
    rows.forEach((row, y) =>
        row.forEach((isDark, x) => {
            if (isDark) path += `M${x + quiet} ${y + quiet}h1v1h-1z`;
        }),
    );
    return { path, size: rows.length + 2 * quiet };
}
