/* What is known of the stretch of time that is selected in the timeline: launches, arrays by their
 * fullest element, and the hottest instructions. */
"use strict";

const ARRAYS_TOLD = 12, INSTRUCTIONS_TOLD = 16;

/* By the measure that is shown, in these intervals: arrays, that of the fullest element first. */
function arraysDuring(first, end) {
    const intervals = timeline.times.length - 1, measure = measureShown(), found = [];
    for (const lane of timeline.shown) {
        let most = -1, which = 0, sum = 0, known = 0;
        for (let e = 0; e < lane.elements.length; e++) {
            let own = 0, count = 0;
            for (let i = first; i < end; i++) {
                const value = timeline.cells[lane.at + e * intervals + i];
                if (value !== NONE) {
                    own += value;
                    count++;
                }
            }
            if (!count)
                continue;
            sum += own / count;
            known++;
            if (own / count > most)
                [most, which] = [own / count, e];
        }
        if (known)
            found.push({lane, which, most: most / FULL * lane.top,
                        mean: sum / known / FULL * lane.top});
    }
    found.sort((a, b) => b.most - a.most);
    return found.slice(0, ARRAYS_TOLD).map(one => [
        one.lane.path, elementPath(one.lane, one.which),
        number(one.most, valueText(measure, one.most)),
        number(one.mean, valueText(measure, one.mean))]);
}

function launchesDuring(from, to) {
    const found = new Map();
    for (const [name, start, end] of timeline.kernels) {
        const part = Math.min(end, to) - Math.max(start, from);
        if (part > 0)
            found.set(name, (found.get(name) || 0) + part);
    }
    return found;
}

/* Slot-cycles in these intervals where the profile has them, else those of the whole run, of
 * kernels that ran. */
function instructionsDuring(first, end, names) {
    const profile = timeline.instructions, found = [];
    profile.rows.forEach((row, i) => {
        let cycles = 0;
        if (!profile.over)
            cycles = names.has(row.kernel) ? row.cycles : 0;
        else
            for (const [at, value] of profile.over[i])
                cycles += at >= first && at < end ? value : 0;
        if (cycles)
            found.push({row, cycles});
    });
    const whole = found.reduce((sum, one) => sum + one.cycles, 0);
    found.sort((a, b) => b.cycles - a.cycles);
    return found.slice(0, INSTRUCTIONS_TOLD).map(({row, cycles}) => [
        row.kernel, row.offset, row.text, number(cycles),
        number(cycles / whole, (cycles / whole * 100).toFixed(1) + " %"), row.causes]);
}

function showInterval() {
    const into = byId("interval");
    if (!timeline.selected) {
        into.replaceChildren(make("p", "Drag over the picture, or press Enter at the cursor, to "
            + "select a stretch of time.", {class: "soft"}));
        return;
    }
    const [from, to] = timeline.selected, first = intervalAt(from);
    const end = Math.max(first + 1, intervalAt(to - 1) + 1), names = launchesDuring(from, to);
    const ran = [...names].map(([name, part]) => `${name} for ${(part / 1e3).toFixed(0)} ns`);
    const parts = [make("h3", `${timeText(from, false)} to ${timeText(to)}`),
                   make("p", ran.length ? "Launches: " + ran.join("; ") : "No kernel ran.")];
    const left = make("div"), right = make("div"), columns = make("div", null, {class: "columns"});
    left.append(make("h3", `Arrays by their fullest element: ${measureShown().words}`),
                makeTable("fullest", ["array", "fullest", "it", "mean of all"],
                          arraysDuring(first, end)));
    if (timeline.instructions) {
        const rows = instructionsDuring(first, end, names);
        right.append(make("h3", "Hottest instructions"), make("p", timeline.instructions.over
            ? "Slot-cycles in this time." : "Of kernels that ran in this time, over the whole run.",
            {class: "soft"}));
        if (rows.length)
            right.append(makeTable("hot", ["kernel", "offset", "instruction", "slot-cycles",
                                           "of all", "most of them"], rows));
    }
    columns.append(left, right);
    parts.push(columns);
    into.replaceChildren(...parts);
}
