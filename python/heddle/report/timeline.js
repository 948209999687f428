/* Moves through what timeline_draw.js draws. Zoom and pan are as in Perfetto, and all that the
 * pointer does has a key, too. interval.js tells of the stretch that is selected. */
"use strict";

let wanted = false;
function redraw() {
    if (wanted)
        return;
    wanted = true;
    requestAnimationFrame(() => {
        wanted = false;
        drawTimeline();
    });
}

// ---- moving

function look(from, to) {
    const end = timeline.times[timeline.times.length - 1];
    const least = (timeline.times[1] - timeline.times[0]) * 2;
    let span = Math.min(Math.max(to - from, Math.min(least, end)), end);
    timeline.from = Math.min(Math.max(0, from), end - span);
    timeline.to = timeline.from + span;
    writeChoice("time", Math.round(timeline.from) + "-" + Math.round(timeline.to));
    tellScale();
    redraw();
}

function zoom(factor, at = (timeline.from + timeline.to) / 2) {
    look(at - (at - timeline.from) * factor, at + (timeline.to - at) * factor);
}

function pan(part) {
    const by = part * (timeline.to - timeline.from);
    look(timeline.from + by, timeline.to + by);
}

function select(from, to) {
    timeline.selected = from === null ? null : [Math.min(from, to), Math.max(from, to)];
    writeChoice("interval", timeline.selected ? timeline.selected.map(Math.round).join("-") : "");
    showInterval();
    redraw();
}

/* What stands at a place of the canvas: lane, row, interval. */
function cellAt(x, y) {
    const down = y - timeline.top + byId("timeline").scrollTop;
    const lane = y < timeline.top ? -1
        : timeline.shown.findIndex(l => down >= l.y && down < l.y + HEAD + l.rows);
    if (lane < 0)
        return null;
    const of = timeline.shown[lane], inside = down - of.y - HEAD;
    const row = inside < 0 ? -1 : Math.floor(inside / of.rows * of.elements.length);
    return {lane, row: of.elements.length === 1 ? 0 : row, interval: intervalAt(timeAt(x))};
}

function tell(cell) {
    if (!cell)
        return;
    const lane = timeline.shown[cell.lane], measure = measureShown(), i = cell.interval;
    const words = value => value < 0 ? "nothing asked"
        : valueText(measure, value / FULL * lane.top);
    const at = `${timeText(timeline.times[i], false)} to ${timeText(timeline.times[i + 1])}`;
    const array = `${lane.path}: mean ${words(lane.mean[i])}, fullest ${words(lane.most[i])}`;
    let own = "";
    if (cell.row >= 0) {
        const element = order(lane)[cell.row];
        const value = timeline.cells[lane.at + element * (timeline.times.length - 1) + i];
        own = `${elementPath(lane, element)}: ${measure.words} `
            + `${words(value === NONE ? -1 : value)}; `;
    }
    byId("timeline-told").textContent = `${at}: ${own}${array}`;
}

function toggle(lane) {
    if (!timeline.open.delete(lane.path))
        timeline.open.add(lane.path);
    layOut();
    redraw();
}

/* The cursor, by keys. */
function step(along, down) {
    const cursor = timeline.cursor || {lane: 0, row: 0, interval: intervalAt(timeline.from)};
    timeline.cursor = cursor;
    cursor.interval = Math.min(Math.max(0, cursor.interval + along), timeline.times.length - 2);
    cursor.row += down;
    const count = timeline.shown[cursor.lane].elements.length;
    if (cursor.row < 0 && cursor.lane > 0)
        cursor.row = timeline.shown[--cursor.lane].elements.length - 1;
    else if (cursor.row >= count && cursor.lane < timeline.shown.length - 1)
        [cursor.lane, cursor.row] = [cursor.lane + 1, 0];
    cursor.row = Math.min(Math.max(0, cursor.row), timeline.shown[cursor.lane].elements.length - 1);
    const start = timeline.times[cursor.interval], end = timeline.times[cursor.interval + 1];
    if (start < timeline.from || end > timeline.to)
        look(start - (timeline.to - timeline.from) / 2, start + (timeline.to - timeline.from) / 2);
    const lane = timeline.shown[cursor.lane], frame = byId("timeline");
    const y = lane.y + HEAD + cursor.row * lane.rows / lane.elements.length;
    if (y < frame.scrollTop || y + 2 * ROW > frame.scrollTop + frame.clientHeight - timeline.top)
        frame.scrollTop = y - frame.clientHeight / 3;
    tell(cursor);
    redraw();
}

const KEYS = {
    w: () => zoom(0.7), s: () => zoom(1 / 0.7), "+": () => zoom(0.7), "-": () => zoom(1 / 0.7),
    a: () => pan(-0.2), d: () => pan(0.2),
    0: () => look(0, timeline.times[timeline.times.length - 1]),
    f: () => timeline.selected && look(...timeline.selected),
    ArrowLeft: () => step(-1, 0), ArrowRight: () => step(1, 0),
    ArrowUp: () => step(0, -1), ArrowDown: () => step(0, 1),
    e: () => timeline.cursor && toggle(timeline.shown[timeline.cursor.lane]),
    Enter: () => timeline.cursor && select(timeline.times[timeline.cursor.interval],
                                           timeline.times[timeline.cursor.interval + 1]),
    Escape: () => select(null),
};

function prepareKeys(canvas) {
    canvas.addEventListener("keydown", event => {
        const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (!act || event.ctrlKey || event.metaKey || event.altKey)
            return;
        event.preventDefault();
        act();
    });
    canvas.addEventListener("focus", redraw);
    canvas.addEventListener("blur", redraw);
}

/* Dragging selects, with Shift it moves; a click takes one interval, or opens a lane. */
function preparePointer(canvas) {
    let began = null;
    const place = event => {
        const box = canvas.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", event => {
        const [x, y] = place(event);
        began = {x, y, time: timeAt(x), from: timeline.from, to: timeline.to,
                 pans: event.shiftKey || event.button === 1};
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
        const [x, y] = place(event);
        if (began && Math.abs(x - began.x) > 3) {
            const by = (began.x - x) / widthOf() * (began.to - began.from);
            if (began.pans)
                look(began.from + by, began.to + by);
            else
                select(began.time, timeAt(x));
        } else {
            tell(cellAt(x, y));
        }
    });
    canvas.addEventListener("pointerup", event => {
        const [x, y] = place(event), cell = cellAt(x, y);
        if (began && Math.abs(x - began.x) <= 3 && cell) {
            timeline.cursor = {...cell, row: Math.max(0, cell.row)};
            if (x < GUTTER)
                toggle(timeline.shown[cell.lane]);
            else
                select(timeline.times[cell.interval], timeline.times[cell.interval + 1]);
        }
        began = null;
    });
    canvas.addEventListener("dblclick", event => zoom(0.5, timeAt(place(event)[0])));
    canvas.addEventListener("wheel", event => {
        const along = event.shiftKey ? event.deltaY : event.deltaX;
        if (event.ctrlKey || event.metaKey)
            zoom(Math.exp(Math.sign(event.deltaY) * 0.25), timeAt(place(event)[0]));
        else if (Math.abs(along) > 0)
            pan(Math.sign(along) * 0.1);
        else
            return;  // the frame scrolls
        event.preventDefault();
    }, {passive: false});
}

function prepareChoices() {
    for (const name of ["measure", "order", "scale"]) {
        const list = byId("timeline-" + name);
        timeline[name] = list.value;
        list.addEventListener("change", () => {
            timeline[name] = list.value;
            timeline.cursor = null;
            layOut();
            tellScale();
            showInterval();
            redraw();
        });
    }
    for (const button of document.querySelectorAll("[data-timeline]"))
        button.addEventListener("click", () => KEYS[button.dataset.timeline]());
}

function wantedSpan(name) {
    const found = /^(\d+)-(\d+)$/.exec(readChoices().get(name) || "");
    const [from, to] = found ? [Number(found[1]), Number(found[2])] : [0, 0];
    return from < to ? [from, to] : null;
}

async function prepareTimeline() {
    const told = byId("timeline-data");
    if (!told)
        return;
    timeline = {open: new Set(), cursor: null, selected: null, ...JSON.parse(told.textContent)};
    timeline.cells = await unpacked(timeline.cells);
    const end = timeline.times[timeline.times.length - 1];
    [timeline.from, timeline.to] = [0, end];
    prepareChoices();
    layOut();
    const canvas = byId("timeline-canvas");
    prepareKeys(canvas);
    preparePointer(canvas);
    byId("timeline").addEventListener("scroll", redraw);
    new ResizeObserver(redraw).observe(byId("timeline"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        tellScale();
        redraw();
    });
    const span = wantedSpan("time"), interval = wantedSpan("interval");
    if (span)
        look(...span);
    timeline.selected = interval;
    tellScale();
    showInterval();
    drawTimeline();
    canvas.dataset.drawn = timeline.shown.length;
}

prepareTimeline();
