/* What is known of the stretch of time that is selected in the timeline: launches, arrays by their
 * fullest element, the hottest instructions, and the slowest requests of the trace. */
"use strict";

const ARRAYS_TOLD = 12, INSTRUCTIONS_TOLD = 16, REQUESTS_TOLD = 20;

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

/* A request, hop by hop: when a message was sent, and how long the answer was in coming on. */
function showRequest(request) {
    const trace = timeline.requests, [start, end, name, address, merged, hops] = request;
    const rows = hops.map(([wire, word, sent, arrived], i) => {
        const until = i + 1 < hops.length ? hops[i + 1][2] : arrived;
        return [trace.wires[wire], word, number(sent - start, ((sent - start) / 1e3).toFixed(1)),
                number(arrived - sent, ((arrived - sent) / 1e3).toFixed(1)),
                number(until - arrived, i + 1 < hops.length
                    ? (Math.max(0, until - arrived) / 1e3).toFixed(1) : "")];
    });
    const table = makeTable("request", ["over", "message", "sent, ns", "on its way, ns",
                                        "then until the next, ns"], rows);
    [...table.querySelectorAll("tbody tr")].forEach((line, i) => {
        const bar = make("div", null, {class: "hop"}), cell = line.insertCell();
        bar.style.marginLeft = (hops[i][2] - start) / (end - start) * 100 + "%";
        bar.style.width = Math.max(0.5, (hops[i][3] - hops[i][2]) / (end - start) * 100) + "%";
        cell.className = "hops";
        cell.append(bar);
    });
    table.querySelector("thead tr").append(make("th", "when"));
    const took = ((end - start) / 1e3).toFixed(1);
    byId("request-shown").replaceChildren(
        make("h4", `${name} ${address} at ${timeText(start)}, ${took} ns`), table);
    if (merged)
        byId("request-shown").append(make("p", "It waited for another request for the same line: "
            + `flow ${merged}.`, {class: "soft"}));
    byId("request-shown").dataset.hops = hops.length;
}

function requestsDuring(from, to) {
    const trace = timeline.requests;
    const found = trace.slowest.filter(one => one[0] < to && one[1] > from)
        .sort((a, b) => (b[1] - b[0]) - (a[1] - a[0])).slice(0, REQUESTS_TOLD);
    const began = trace.began.reduce((sum, count, i) => {
        const middle = trace.from + (i + 0.5) * trace.step;
        return sum + (middle >= from && middle < to ? count : 0);
    }, 0);
    const rows = found.map(one => [
        `${one[2]} ${one[3]}`, number(one[0], timeText(one[0])),
        number(one[1] - one[0], ((one[1] - one[0]) / 1e3).toFixed(1)), trace.wires[one[5][0][0]]]);
    const table = makeTable("requests", ["request", "begins", "takes, ns", "from"], rows);
    [...table.querySelectorAll("tbody tr")].forEach((line, i) => {
        const button = make("button", line.cells[0].textContent, {type: "button", class: "plain"});
        button.addEventListener("click", () => showRequest(found[i]));
        line.cells[0].replaceChildren(button);
    });
    const told = found.length ? "The slowest of those that are under way here (about "
        + `${began} begin here); one that you click shows its way.`
        : "The trace has no request here.";
    return [make("h3", "Requests"), make("p", told, {class: "soft"}),
            ...(found.length ? [table] : []), make("div", null, {id: "request-shown"})];
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
    if (timeline.requests)
        parts.push(...requestsDuring(from, to));
    into.replaceChildren(...parts);
}
