/* Draws what happened over time (timeline.py) into one canvas: launches, and for each array a line
 * of its mean and its fullest element over a heat map with a row for each element. The canvas is as
 * large as its frame: only what is seen of the lanes is drawn. timeline.js moves it. */
"use strict";

const HEAT = ["#ffffd9", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8",
              "#253494", "#081d58"];  // YlGnBu of ColorBrewer, as in draw.py
const LAUNCH_COLOURS = ["#0072b2", "#b04a00", "#00785a", "#a5578a", "#8a6100", "#2c6f9b"];
const GUTTER = 212, RIGHT = 14, AXIS = 22, LAUNCH = 17, HEAD = 32, GAP = 9;
const ROW = 12, CLOSED_MAX = 96;  // height of a row in an open lane, and of a closed lane
const NONE = 255, FULL = 254;

let timeline = null;  // data of the page, and what is seen of it

function byId(id) { return document.getElementById(id); }

function isDark() { return matchMedia("(prefers-color-scheme: dark)").matches; }

function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

/* From none to all; in the dark, none is dark. */
function heatColour(part) {
    const ramp = isDark() ? [...HEAT].reverse() : HEAT;
    const at = Math.min(Math.max(part, 0), 1) * (ramp.length - 1);
    const low = Math.min(Math.floor(at), ramp.length - 2);
    return [1, 3, 5].map(i => {
        const a = parseInt(ramp[low].slice(i, i + 2), 16);
        const b = parseInt(ramp[low + 1].slice(i, i + 2), 16);
        return Math.round(a + (at - low) * (b - a));
    });
}

function timeText(ps, unit = true) {
    const span = timeline ? timeline.to - timeline.from : ps;
    const digits = Math.min(6, Math.max(0, Math.ceil(4 - Math.log10(span / 1e6))));
    return (ps / 1e6).toFixed(digits) + (unit ? " µs" : "");
}

function valueText(measure, value) {
    return measure.percent ? (value * 100).toPrecision(3) + " %" : value.toPrecision(3);
}

/* "gpu.sa[*].cu[*]" and "1,2": "gpu.sa[1].cu[2]". */
function elementPath(lane, index) {
    const numbers = lane.elements[index].split(",");
    let at = 0;
    return lane.path.replace(/\[\*\]/g, () => "[" + numbers[at++] + "]");
}

async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* Of a lane, once: by interval the mean and the most of its elements, by element its mean; in
 * parts of FULL. */
function prepareLane(lane) {
    const count = lane.elements.length, intervals = timeline.times.length - 1;
    lane.mean = new Float32Array(intervals).fill(-1);
    lane.most = new Float32Array(intervals).fill(-1);
    lane.whole = new Float32Array(count);
    const known = new Uint32Array(count);
    for (let i = 0; i < intervals; i++) {
        let sum = 0, with_value = 0;
        for (let e = 0; e < count; e++) {
            const value = timeline.cells[lane.at + e * intervals + i];
            if (value === NONE)
                continue;
            sum += value;
            with_value++;
            lane.whole[e] += value;
            known[e]++;
            lane.most[i] = Math.max(lane.most[i], value);
        }
        if (with_value)
            lane.mean[i] = sum / with_value;
    }
    for (let e = 0; e < count; e++)
        lane.whole[e] /= known[e] || 1;
    lane.index = [...lane.elements.keys()];
    lane.fullest = [...lane.index].sort((a, b) => lane.whole[b] - lane.whole[a] || a - b);
}

function measureShown() {
    return timeline.measures.find(m => m.name === timeline.measure);
}

function scaleOf(lane) {
    return timeline.scale === "own" ? lane.top : measureShown().scale;
}

function order(lane) {
    return timeline.order === "fullest" ? lane.fullest : lane.index;
}

/* Where lanes stand, from the top of all of them. */
function layOut() {
    let y = GAP;
    timeline.shown = timeline.lanes.filter(lane => lane.measure === timeline.measure);
    for (const lane of timeline.shown) {
        if (!lane.index)
            prepareLane(lane);
        const count = lane.elements.length;
        lane.y = y;
        lane.rows = count === 1 ? 0 : timeline.open.has(lane.path) ? count * ROW
            : Math.min(count * 8, CLOSED_MAX);
        y += HEAD + lane.rows + GAP;
    }
    const ends = [];  // of the launches in a line of their own each where they overlap
    for (const launch of timeline.kernels) {
        let line = ends.findIndex(end => end <= launch[1]);
        line = line < 0 ? Math.min(ends.length, 3) : line;
        ends[line] = Math.max(ends[line] || 0, launch[2]);
        launch[3] = line;
    }
    timeline.top = AXIS + Math.max(1, ends.length) * LAUNCH + 4;
    byId("timeline-room").style.height = timeline.top + y + "px";
    byId("timeline").style.height = `min(${timeline.top + y + 2}px, 74vh)`;
}

// ---- drawing

function widthOf() {
    return Math.max(60, byId("timeline").clientWidth - GUTTER - RIGHT);
}

function xOf(ps) {
    return GUTTER + (ps - timeline.from) / (timeline.to - timeline.from) * widthOf();
}

function timeAt(x) {
    const part = Math.min(Math.max((x - GUTTER) / widthOf(), 0), 1);
    return timeline.from + part * (timeline.to - timeline.from);
}

/* The interval that this time is in. */
function intervalAt(ps) {
    let low = 0, high = timeline.times.length - 2;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (timeline.times[middle] <= ps)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* For each column of pixels the intervals in it: first, and the one behind the last. */
function columnsOf(width) {
    const found = new Int32Array(2 * width);
    for (let x = 0; x < width; x++) {
        const first = intervalAt(timeAt(GUTTER + x + 0.001));
        found[2 * x] = first;
        found[2 * x + 1] = Math.max(first, intervalAt(timeAt(GUTTER + x + 0.999))) + 1;
    }
    return found;
}

function lookUp(lane) {
    const found = new Uint32Array(256), bytes = new Uint8ClampedArray(found.buffer);
    for (let value = 0; value <= FULL; value++)
        bytes.set([...heatColour(value / FULL * lane.top / scaleOf(lane)), 255], 4 * value);
    return found;  // NONE stays transparent
}

/* Rows `from` to `to` of a lane whose rows are this many: where there are fewer rows than elements,
 * each shows the fullest of its own; over time a pixel shows a mean. */
function rowsImage(lane, rows, from, to, columns) {
    const width = columns.length / 2, intervals = timeline.times.length - 1;
    const image = new ImageData(width, to - from), out = new Uint32Array(image.data.buffer);
    const colours = lookUp(lane), elements = order(lane), count = elements.length;
    for (let row = from; row < to; row++) {
        const first = Math.floor(row * count / rows);
        const end = Math.max(first + 1, Math.floor((row + 1) * count / rows));
        for (let x = 0; x < width; x++) {
            let most = -1;
            for (let e = first; e < end; e++) {
                const at = lane.at + elements[e] * intervals;
                let sum = 0, known = 0;
                for (let i = columns[2 * x]; i < columns[2 * x + 1]; i++) {
                    if (timeline.cells[at + i] !== NONE) {
                        sum += timeline.cells[at + i];
                        known++;
                    }
                }
                if (known)
                    most = Math.max(most, sum / known);
            }
            out[(row - from) * width + x] = most < 0 ? 0 : colours[Math.round(most)];
        }
    }
    return image;
}

function drawHeat(context, lane, y, columns) {
    const height = byId("timeline").clientHeight, count = lane.elements.length;
    const rows = Math.min(count, Math.floor(lane.rows));
    const each = lane.rows / rows;
    const from = Math.max(0, Math.floor((timeline.top - y) / each));
    const to = Math.min(rows, Math.ceil((height - y) / each));
    if (to <= from)
        return;
    const image = rowsImage(lane, rows, from, to, columns);
    const own = document.createElement("canvas");
    own.width = image.width;
    own.height = image.height;
    own.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(own, GUTTER, y + from * each, image.width, (to - from) * each);
    context.fillStyle = colour("soft");
    context.font = "11px sans-serif";
    context.textAlign = "right";
    const apart = Math.max(1, Math.ceil(13 / each));
    for (let row = Math.ceil(from / apart) * apart; row < to; row += apart) {
        const element = order(lane)[Math.floor(row * count / rows)];
        context.fillText("[" + lane.elements[element] + "]", GUTTER - 5,
                         y + row * each + Math.min(each, 12) * 0.5 + 4);
    }
}

/* The mean of the lane as an area, its fullest element as a line. */
function drawLine(context, lane, y, columns) {
    const width = columns.length / 2, height = HEAD - 4;
    const level = value => height * (1 - Math.min(1, value / FULL * lane.top / scaleOf(lane)));
    const mean = (values, x) => {
        let sum = 0, known = 0;
        for (let i = columns[2 * x]; i < columns[2 * x + 1]; i++) {
            if (values[i] >= 0) {
                sum += values[i];
                known++;
            }
        }
        return known ? sum / known : 0;
    };
    context.fillStyle = colour("area");
    context.beginPath();
    context.moveTo(GUTTER, y + height);
    for (let x = 0; x < width; x++)
        context.lineTo(GUTTER + x + 0.5, y + level(mean(lane.mean, x)));
    context.lineTo(GUTTER + width, y + height);
    context.fill();
    context.strokeStyle = colour("accent");
    context.lineWidth = 1;
    context.beginPath();
    for (let x = 0; x < width && lane.elements.length > 1; x++)
        context.lineTo(GUTTER + x + 0.5, y + level(mean(lane.most, x)));
    context.stroke();
    context.strokeStyle = colour("line");
    context.strokeRect(GUTTER - 0.5, y - 0.5, width + 1, height + 1);
}

function drawLane(context, lane, y, columns) {
    const measure = measureShown(), count = lane.elements.length;
    context.textAlign = "left";
    context.fillStyle = colour("ink");
    context.font = "bold 12px sans-serif";
    const sign = count === 1 ? "" : timeline.open.has(lane.path) ? "▾ " : "▸ ";
    context.fillText(fitting(context, sign + lane.path, GUTTER - 12), 6, y + 11);
    context.font = "11px sans-serif";
    context.fillStyle = colour("soft");
    const told = (count > 1 ? count + " elements, " : "") + "top "
        + valueText(measure, scaleOf(lane));
    context.fillText(told, 6, y + 26);
    drawLine(context, lane, y, columns);
    if (count > 1)
        drawHeat(context, lane, y + HEAD, columns);
}

function fitting(context, words, width) {
    if (context.measureText(words).width <= width)
        return words;
    let half = words.length >> 1;
    while (half > 2 && context.measureText(words.slice(0, half) + "…" + words.slice(-half)).width
           > width)
        half--;
    return words.slice(0, half) + "…" + words.slice(-half);
}

function tickTimes() {
    const span = timeline.to - timeline.from, rough = span / Math.max(2, widthOf() / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= rough);
    const found = [];
    for (let time = Math.ceil(timeline.from / step) * step; time <= timeline.to; time += step)
        found.push(time);
    return found;
}

/* Stays at the top while lanes move below it. */
function drawTop(context) {
    const width = byId("timeline").clientWidth;
    const names = [...new Set(timeline.kernels.map(k => k[0]))];
    context.fillStyle = colour("card");
    context.fillRect(0, 0, width, timeline.top);
    context.font = "11px sans-serif";
    context.fillStyle = colour("soft");
    context.strokeStyle = colour("line");
    context.textAlign = "center";
    for (const time of tickTimes()) {
        context.fillText(timeText(time, false), Math.min(xOf(time), width - 26), 13);
        context.strokeRect(Math.round(xOf(time)) + 0.5, AXIS - 4, 0, 4);
    }
    context.textAlign = "left";
    context.fillText("µs", 6, 13);
    context.fillStyle = colour("ink");
    context.font = "bold 12px sans-serif";
    context.fillText("launches", 6, AXIS + 12);
    context.save();
    context.beginPath();
    context.rect(GUTTER, 0, widthOf(), timeline.top);
    context.clip();
    context.font = "11px sans-serif";
    for (const [name, start, end, line] of timeline.kernels) {
        const x = xOf(start), long = Math.max(1, xOf(end) - x), y = AXIS + line * LAUNCH;
        if (x > width || x + long < GUTTER)
            continue;
        context.fillStyle = LAUNCH_COLOURS[names.indexOf(name) % LAUNCH_COLOURS.length];
        context.fillRect(x, y, long, LAUNCH - 2);
        const left = Math.max(x, GUTTER);
        context.fillStyle = "#ffffff";
        if (x + long - left > 40)
            context.fillText(fitting(context, name, x + long - left - 8), left + 4, y + 11);
    }
    context.restore();
}

function drawMarks(context, height) {
    if (timeline.selected) {
        const [from, to] = timeline.selected.map(xOf);
        context.save();
        context.beginPath();
        context.rect(GUTTER, 0, widthOf(), height);
        context.clip();
        context.fillStyle = colour("veil");
        context.fillRect(GUTTER, timeline.top, from - GUTTER, height);
        context.fillRect(to, timeline.top, GUTTER + widthOf() - to, height);
        context.strokeStyle = colour("mark");
        context.lineWidth = 2;
        context.strokeRect(from, 1, Math.max(1, to - from), height - 2);
        context.restore();
    }
    const cursor = timeline.cursor, lane = cursor && timeline.shown[cursor.lane];
    if (!lane || document.activeElement !== byId("timeline-canvas"))
        return;
    const count = lane.elements.length, each = count > 1 ? lane.rows / count : HEAD - 4;
    const y = timeline.top + lane.y - byId("timeline").scrollTop + (count > 1 ? HEAD : 0)
        + cursor.row * each;
    const x = xOf(timeline.times[cursor.interval]);
    context.strokeStyle = colour("mark");
    context.lineWidth = 2;
    context.strokeRect(x - 1, y - 1, Math.max(3, xOf(timeline.times[cursor.interval + 1]) - x + 2),
                       Math.max(4, each + 2));
}

function drawTimeline() {
    const frame = byId("timeline"), canvas = byId("timeline-canvas");
    const width = frame.clientWidth, height = frame.clientHeight, dots = devicePixelRatio || 1;
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(height * dots);
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    const context = canvas.getContext("2d");
    context.scale(dots, dots);
    const columns = columnsOf(Math.floor(widthOf()));
    for (const lane of timeline.shown) {
        const y = timeline.top + lane.y - frame.scrollTop;
        if (y < height && y + HEAD + lane.rows > timeline.top)
            drawLane(context, lane, y, columns);
    }
    drawTop(context);
    drawMarks(context, height);
}

/* The scale, beside the choices. */
function tellScale() {
    const measure = measureShown(), ramp = byId("timeline-ramp");
    const steps = HEAT.map((_, i) => "rgb(" + heatColour(i / (HEAT.length - 1)).join() + ")");
    ramp.style.background = `linear-gradient(to right, ${steps.join()})`;
    byId("timeline-top").textContent = timeline.scale === "own"
        ? "the top of each array" : valueText(measure, measure.scale);
    byId("timeline-canvas").setAttribute("aria-label", `${measure.words} of each element over `
        + `time, ${timeline.shown.length} arrays, from ${timeText(timeline.from)} to `
        + timeText(timeline.to));
}
