/* Draws results of a sweep from the points at the page's end: a line for each input over a setting,
 * a map of two settings, and parallel coordinates of all of them. What is chosen stands in the
 * address. */
"use strict";

const LINES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9", "#7f6bc4",
               "#8c8c8c"];
const RAMP = ["#ffffd9", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#081d58"];
const SHADES = 9;  // of parallel coordinates: one path each
const WIDE = 720, HIGH = 380, LEFT = 74, BOTTOM = 330, TOP = 36;

const sweep = JSON.parse(document.getElementById("points-data").textContent);
const dropped = new Map();  // parallel coordinates: values of settings that are left out

function shape(tag, attributes, words, title) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes))
        made.setAttribute(name, value);
    if (words !== undefined)
        made.textContent = words;
    if (title)
        made.append(shape("title", {}, title));
    return made;
}

function chosen(name) {
    return document.querySelector(`select[name="${name}"]`).value;
}

function setting(name) { return sweep.settings.find(one => one.name === name); }

function result(name) { return sweep.results.find(one => one.name === name); }

function column(name) {
    const at = sweep.columns.indexOf(name);
    return sweep.rows.map(row => row[at]);
}

function shown(value) {
    return Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3)
        ? value.toExponential(2) : Number(value.toPrecision(4)).toString();
}

/* What makes a line: a setting, or "" for everything that runs on the machine. */
function linesOf(name) {
    if (name === "nothing")
        return sweep.rows.map(() => "all");
    const names = name ? [name] : sweep.inputs;
    const columns = names.map(column);
    return sweep.rows.map((_, i) => names.map((of, k) => [of, columns[k][i]])
        .filter(([, value]) => value !== null)
        .map(([of, value]) => of === "program" ? value : `${of} ${value}`).join(", ") || "all");
}

/* A result of each point; relative: in parts of the median of all points with its input. */
function valuesOf(of) {
    const values = column(of.name).map(value => value === null ? null : value / of.factor);
    if (chosen("scale") !== "relative")
        return {values, words: of.words};
    const lines = linesOf(""), medians = new Map([...new Set(lines)].map(name => [
        name, median(values.filter((value, i) => value !== null && lines[i] === name))]));
    return {values: values.map((value, i) => value === null ? null
                : value / (medians.get(lines[i]) || 1)),
            words: `${of.words.split(",")[0]}, times the median of its input`};
}

function median(values) {
    const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/* By line and value of x: medians and ends; where they are relative, in parts of the median at the
 * line's first value. */
function gathered(of, x, by, relative) {
    const values = column(of), xs = column(x), lines = linesOf(by), found = new Map();
    const factor = result(of).factor;
    sweep.rows.forEach((row, i) => {
        if (values[i] === null || xs[i] === null)
            return;
        const line = found.get(lines[i]) || found.set(lines[i], new Map()).get(lines[i]);
        const at = line.get(xs[i]) || line.set(xs[i], []).get(xs[i]);
        at.push({value: values[i] / factor, point: row[0]});
    });
    return [...found].map(([name, line]) => {
        const places = setting(x).values.filter(value => line.has(value));
        const first = relative ? median(line.get(places[0]).map(p => p.value)) || 1 : 1;
        return {name, places: places.map(value => {
            const points = line.get(value).map(p => ({...p, value: p.value / first}));
            const all = points.map(p => p.value);
            return {value, points, middle: median(all), low: Math.min(...all),
                    high: Math.max(...all)};
        })};
    });
}

function scaleFor(low, high, start, end) {
    if (low > 0.6 * high && low > 0)
        [low, high] = [low - (high - low || low) * 0.1, high + (high - low || high) * 0.1];
    else
        low = Math.min(0, low);
    const rough = (high - low || 1) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(part => part * power).find(s => s >= rough * 0.999);
    const from = Math.floor(low / step + 1e-9) * step, to = Math.ceil(high / step - 1e-9) * step;
    const ticks = [];
    for (let tick = from; tick <= to + step / 2; tick += step)
        ticks.push(Math.abs(tick) < step / 1e6 ? 0 : tick);
    return {at: value => start + (end - start) * (value - from) / (to - from || 1), ticks,
            from: from};
}

function xOfPlace(name, value) {
    const of = setting(name);
    return LEFT + 10 + (WIDE - LEFT - 30) * of.places[of.values.indexOf(value)];
}

function valueLabels(svg, name, y) {
    let until = 0;
    for (const value of setting(name).values) {
        const half = Math.min(value.length, 18) * 3.6 + 5, x = xOfPlace(name, value);
        if (x - half >= until) {
            svg.append(shape("text", {x, y, "text-anchor": "middle", "font-size": 12}, value));
            until = x + half;
        }
    }
}

function replaced(id, svg, words) {
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", words);
    document.getElementById(id).replaceChildren(svg);
}

function drawLines() {
    const of = chosen("result"), x = chosen("x"), relative = chosen("scale") === "relative";
    const lines = gathered(of, x, chosen("group"), relative), what = result(of);
    const all = lines.flatMap(l => l.places.flatMap(p => [p.low, p.high]));
    const svg = shape("svg", {viewBox: `0 0 ${WIDE} ${HIGH + Math.ceil(lines.length / 3) * 18}`});
    if (!all.length) {
        replaced("sweep-lines", svg, "no point has that");
        return;
    }
    const y = scaleFor(Math.min(...all), Math.max(...all), BOTTOM, TOP);
    for (const tick of y.ticks)
        svg.append(shape("path", {d: `M${LEFT} ${y.at(tick)}H${WIDE - 10}`, class: "grid"}),
                   shape("text", {x: LEFT - 6, y: y.at(tick) + 4, "text-anchor": "end",
                                  "font-size": 12}, shown(tick)));
    lines.forEach((line, i) => drawLine(svg, line, i, x, y));
    valueLabels(svg, x, BOTTOM + 18);
    const unit = relative ? `${what.words.split(",")[0]}, times that at the first ${x}`
        : what.words;
    svg.append(shape("text", {x: (LEFT + WIDE) / 2, y: BOTTOM + 38, "text-anchor": "middle"}, x),
               shape("text", {x: 14, y: 14, "font-size": 13}, unit
                   + (y.from > 0 ? "; the axis does not begin at 0" : "")));
    replaced("sweep-lines", svg, `${unit} over ${x}, ${lines.length} lines`);
    svg.dataset.lines = lines.length;
    document.querySelector("#sweep-csv").dataset.columns =
        ["point", ...sweep.settings.map(s => s.name), of].join("|");
}

function drawLine(svg, line, i, x, y) {
    const stroke = LINES[i % LINES.length], dash = ["", "6 3", "2 3"][Math.floor(i / 8) % 3];
    const at = line.places.map(p => [xOfPlace(x, p.value), p]);
    if (line.places.some(p => p.low < p.high))
        svg.append(shape("path", {
            d: "M" + at.map(([a, p]) => `${a} ${y.at(p.high)}`).join("L") + "L"
                + [...at].reverse().map(([a, p]) => `${a} ${y.at(p.low)}`).join("L") + "Z",
            fill: stroke, opacity: 0.13}));
    svg.append(shape("path", {d: "M" + at.map(([a, p]) => `${a} ${y.at(p.middle)}`).join("L"),
                              fill: "none", stroke, "stroke-width": 2, "stroke-dasharray": dash}));
    for (const [a, p] of at)
        svg.append(shape("circle", {cx: a, cy: y.at(p.middle), r: 4, fill: stroke}, undefined,
            `${line.name}, ${x} ${p.value}: ${shown(p.middle)}`
            + (p.points.length > 1 ? `, ${p.points.length} points from ${shown(p.low)} to `
                + shown(p.high) : `, point ${p.points[0].point}`)));
    const left = 20 + i % 3 * 235, down = HIGH + 8 + Math.floor(i / 3) * 18;
    svg.append(shape("path", {d: `M${left} ${down - 4}h22`, stroke, "stroke-width": 2.5,
                              "stroke-dasharray": dash}),
               shape("text", {x: left + 28, y: down, "font-size": 12},
                     line.name.length > 30 ? line.name.slice(0, 29) + "…" : line.name));
}

/* Light for none, as on paper; in the dark the other way. */
function rampColour(part) {
    const ramp = matchMedia("(prefers-color-scheme: dark)").matches ? [...RAMP].reverse() : RAMP;
    const at = Math.min(Math.max(part, 0), 1) * (ramp.length - 1);
    const low = Math.min(Math.floor(at), ramp.length - 2);
    return [1, 3, 5].map(i => {
        const a = parseInt(ramp[low].slice(i, i + 2), 16);
        return Math.round(a + (at - low) * (parseInt(ramp[low + 1].slice(i, i + 2), 16) - a));
    });
}

function drawMap() {
    const place = document.getElementById("sweep-map");
    if (!place)
        return;
    const of = chosen("result"), x = chosen("map-x"), y = chosen("map-y");
    if (x === y) {
        place.textContent = "Choose two different settings.";
        return;
    }
    const {values, words} = valuesOf(result(of));
    const xs = column(x), ys = column(y), cells = new Map();
    values.forEach((value, i) => {
        const key = xs[i] + "\t" + ys[i];
        if (value !== null && xs[i] !== null && ys[i] !== null)
            cells.set(key, [...(cells.get(key) || []), value]);
    });
    const middles = new Map([...cells].map(([key, all]) => [key, median(all)]));
    const low = Math.min(...middles.values()), high = Math.max(...middles.values());
    const across = setting(x).values, down = setting(y).values;
    const each = Math.min(86, (WIDE - 130) / across.length), tall = Math.min(34, 320 / down.length);
    const svg = shape("svg", {viewBox: `0 0 ${WIDE} ${70 + tall * down.length}`});
    svg.append(shape("text", {x: 14, y: 14, "font-size": 13},
                     `${words}: ${shown(low)} to ${shown(high)}, medians`));
    across.forEach((a, i) => down.forEach((b, k) => {
        const value = middles.get(a + "\t" + b);
        const left = 120 + i * each, top = 26 + k * tall;
        if (value === undefined) {
            svg.append(shape("rect", {x: left, y: top, width: each - 1, height: tall - 1,
                                      class: "none"}, undefined, `${x} ${a}, ${y} ${b}: no point`));
            return;
        }
        const colour = rampColour((value - low) / (high - low || 1));
        const light = 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2] > 130;
        svg.append(shape("rect", {x: left, y: top, width: each - 1, height: tall - 1,
                                  fill: `rgb(${colour.join()})`, "data-value": value}, undefined,
                         `${x} ${a}, ${y} ${b}: ${shown(value)}, `
                         + `${cells.get(a + "\t" + b).length} points`));
        if (each > 46 && tall > 14)
            svg.append(shape("text", {x: left + each / 2, y: top + tall / 2 + 4,
                                      "text-anchor": "middle", "font-size": 11,
                                      fill: light ? "black" : "white"}, shown(value)));
    }));
    down.forEach((b, k) => {
        if (k % Math.ceil(13 / tall) === 0)
            svg.append(shape("text", {x: 114, y: 26 + k * tall + tall / 2 + 4,
                                      "text-anchor": "end", "font-size": 12}, b));
    });
    across.forEach((a, i) => {
        if (i % Math.ceil(a.length * 7 / each) === 0)
            svg.append(shape("text", {x: 120 + i * each + each / 2, y: 42 + tall * down.length,
                                      "text-anchor": "middle", "font-size": 12}, a));
    });
    svg.append(shape("text", {x: 120 + each * across.length / 2, y: 60 + tall * down.length,
                              "text-anchor": "middle"}, x),
               shape("text", {x: 14, y: 26 + tall * down.length / 2, "font-size": 12}, y));
    replaced("sweep-map", svg, `${words} by ${x} and ${y}`);
}

/* A line for each point through its value of each setting to its result; lines in as many shades as
 * there are paths, the best on top. A value that is clicked is left out. */
function drawParallel() {
    const of = result(chosen("result")), {values, words} = valuesOf(of);
    const names = sweep.settings.map(s => s.name), apart = (WIDE - 150) / names.length;
    const kept = sweep.rows.map((row, i) => i).filter(i => values[i] !== null
        && names.every(name => !(dropped.get(name) || new Set()).has(column(name)[i])));
    const svg = shape("svg", {viewBox: `0 0 ${WIDE} ${HIGH}`});
    const known = values.filter(value => value !== null);
    const y = scaleFor(Math.min(...known), Math.max(...known), BOTTOM, TOP);
    const placeOf = (name, value) => BOTTOM - (BOTTOM - TOP) * setting(name).places[
        setting(name).values.indexOf(value)];
    const low = Math.min(...known), high = Math.max(...known), paths = Array(SHADES).fill("");
    const columns = new Map(names.map(name => [name, column(name)]));
    for (const i of kept) {
        const value = values[i], part = (value - low) / (high - low || 1);
        const good = of.more ? part : 1 - part;
        const at = names.map((name, k) => columns.get(name)[i] === null ? null
            : `${60 + k * apart} ${placeOf(name, columns.get(name)[i]).toFixed(1)}`);
        paths[Math.min(SHADES - 1, Math.floor(good * SHADES))] += "M"
            + [...at.filter(Boolean), `${60 + names.length * apart} ${y.at(value).toFixed(1)}`]
                .join("L");
    }
    paths.forEach((d, i) => svg.append(shape("path", {
        d: d || "M0 0", fill: "none", stroke: "var(--accent)",
        "stroke-width": i === SHADES - 1 ? 2.2 : 1,
        opacity: 0.12 + 0.88 * (i / (SHADES - 1)) ** 2})));
    names.forEach((name, k) => drawAxis(svg, name, 60 + k * apart, placeOf));
    const right = 60 + names.length * apart;
    svg.append(shape("path", {d: `M${right} ${TOP}V${BOTTOM}`, class: "axis"}),
               shape("text", {x: WIDE - 4, y: 16, "text-anchor": "end", "font-size": 12}, words));
    for (const tick of y.ticks)
        svg.append(shape("text", {x: right + 6, y: y.at(tick) + 4, "font-size": 11}, shown(tick)));
    replaced("sweep-parallel", svg, `parallel coordinates of ${kept.length} points`);
    svg.dataset.kept = kept.length;
    tellBest(kept, values, of, names, columns);
}

function drawAxis(svg, name, x, placeOf) {
    svg.append(shape("path", {d: `M${x} ${TOP}V${BOTTOM}`, class: "axis"}),
               shape("text", {x, y: BOTTOM + 28, "text-anchor": "middle", "font-size": 12},
                     name.length > 18 ? "…" + name.slice(-17) : name));
    let before = Infinity;
    for (const value of setting(name).values) {
        const out = (dropped.get(name) || new Set()).has(value), at = placeOf(name, value);
        if (Math.abs(before - at) < 12)
            continue;
        before = at;
        const label = shape("text", {x: x - 5, y: at + 4, "font-size": 11, tabindex: 0,
                                     "text-anchor": "end",
                                     role: "checkbox", "aria-checked": String(!out),
                                     class: out ? "value out" : "value"},
                            value.length > 12 ? value.slice(0, 11) + "…" : value);
        label.setAttribute("aria-label", `${name} ${value}`);
        const toggle = () => {
            const of = dropped.get(name) || dropped.set(name, new Set()).get(name);
            if (!of.delete(value))
                of.add(value);
            drawParallel();
        };
        label.addEventListener("click", toggle);
        label.addEventListener("keydown", event => {
            if (event.key === "Enter" || event.key === " ") {
                event.preventDefault();
                toggle();
            }
        });
        svg.append(label);
    }
}

function tellBest(kept, values, of, names, columns) {
    const unit = of.words.includes(",") ? ` ${of.words.split(", ").pop()}` : "";
    const best = kept.reduce((a, b) => a < 0 || (of.more ? values[b] > values[a]
        : values[b] < values[a]) ? b : a, -1);
    document.getElementById("sweep-kept").textContent = best < 0 ? "No point is left."
        : `${kept.length} of ${sweep.rows.length} points. The best of them is point `
        + `${sweep.rows[best][0]}, ${shown(values[best])}${unit}: `
        + names.filter(name => columns.get(name)[best] !== null)
            .map(name => `${name} ${columns.get(name)[best]}`).join(", ") + ".";
}

function drawSweep() {
    drawLines();
    drawMap();
    drawParallel();
}

if (sweep.settings.length && sweep.rows.length) {
    for (const list of document.querySelectorAll("#results select"))
        list.addEventListener("change", drawSweep);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawSweep);
    drawSweep();
}
