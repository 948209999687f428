/* Chooses what is shown, and sorts tables. What is chosen stands in the address behind '#', as
 * measure=stall&scope=2, so that a view can be passed on. */
"use strict";

function readChoices() {
    return new URLSearchParams(location.hash.slice(1));
}

function writeChoice(name, value) {
    const choices = readChoices();
    choices.set(name, value);
    history.replaceState(null, "", "#" + choices.toString());
}

/* Of all elements with data-NAME, those with this value are shown. */
function show(name, value) {
    for (const element of document.querySelectorAll("[data-" + name + "]"))
        element.hidden = element.getAttribute("data-" + name) !== value;
}

function prepareSelect(select) {
    const name = select.name, wanted = readChoices().get(name);
    if (wanted !== null && [...select.options].some(option => option.value === wanted))
        select.value = wanted;
    show(name, select.value);
    select.addEventListener("change", () => {
        for (const other of document.querySelectorAll("select[name=" + name + "]"))
            other.value = select.value;
        show(name, select.value);
        writeChoice(name, select.value);
    });
}

function cellValue(row, column) {
    const cell = row.cells[column];
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
}

function compare(a, b) {
    if (typeof a === "number" && typeof b === "number")
        return a - b;
    if (typeof a === "number" || typeof b === "number")
        return typeof a === "number" ? 1 : -1;
    return a < b ? -1 : a > b ? 1 : 0;
}

function sortTable(table, column, ascending) {
    const body = table.tBodies[0], rows = [...body.rows];
    rows.sort((a, b) => (ascending ? 1 : -1) *
        compare(cellValue(a, column), cellValue(b, column)));
    body.append(...rows);
    for (const head of table.tHead.rows[0].cells)
        head.removeAttribute("aria-sort");
    table.tHead.rows[0].cells[column].setAttribute("aria-sort",
        ascending ? "ascending" : "descending");
}

function prepareTable(table) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
        head.tabIndex = 0;
        const sort = () => {
            const ascending = head.getAttribute("aria-sort") === "descending";
            sortTable(table, column, ascending);
            writeChoice("sort-" + table.id, column + (ascending ? "up" : ""));
        };
        head.addEventListener("click", sort);
        head.addEventListener("keydown", event => event.key === "Enter" && sort());
    });
    const wanted = readChoices().get("sort-" + table.id);
    if (wanted !== null && parseInt(wanted, 10) < table.tHead.rows[0].cells.length)
        sortTable(table, parseInt(wanted, 10), wanted.endsWith("up"));
}

function make(tag, words, attributes = {}) {
    const made = document.createElement(tag);
    if (words !== undefined && words !== null)
        made.textContent = words;
    for (const [name, value] of Object.entries(attributes))
        made.setAttribute(name, value);
    return made;
}

/* A table whose numbers stand to the right: a cell is a text, or {shown, value}. */
function makeTable(id, heads, rows) {
    const table = make("table", null, {id}), head = table.createTHead().insertRow();
    const numbers = heads.map((_, i) => rows.some(row => typeof row[i] === "object"));
    heads.forEach((words, i) => {
        head.append(make("th", words, numbers[i] ? {class: "number"} : {}));
    });
    const body = table.createTBody();
    for (const row of rows) {
        const line = body.insertRow();
        row.forEach((cell, i) => {
            const at = line.insertCell();
            at.textContent = typeof cell === "object" ? cell.shown : cell;
            if (numbers[i])
                at.className = "number";
            if (typeof cell === "object")
                at.dataset.value = cell.value;
        });
    }
    const wide = make("div", null, {class: "wide"});
    wide.append(table);
    return wide;
}

function number(value, shown = value.toLocaleString("en").replaceAll(",", "\u202f")) {
    return {shown, value};
}

/* Elements of the array that is chosen, made when they are wanted. */
function prepareElements(place) {
    const arrays = JSON.parse(document.getElementById(place.dataset.elements).textContent);
    const list = place.querySelector("select"), into = place.querySelector("div");
    const share = value => value === null ? "–" : number(value, (value * 100).toFixed(1) + " %");
    const show = () => {
        const array = arrays.find(one => one.path === list.value);
        const rows = array.rows.map(([path, requests, hits, bytes, of, stalled, busy]) => [
            path, number(requests), share(hits), bytes === null ? "–" : number(Math.round(bytes)),
            share(of), share(stalled), share(busy)]);
        into.replaceChildren(makeTable(place.dataset.elements + "-table", [
            "element", "requests", "hits", "bytes", "of the bandwidth", "stalled", "utilisation"],
            rows));
        into.querySelector("table").className = "sortable";
        prepareTable(into.querySelector("table"));
    };
    list.addEventListener("change", show);
    show();
}

/* The numbers behind a figure of a sweep: columns of the table at the page's end, without points
 * that lack one of them. */
function csvOf(names) {
    const table = JSON.parse(document.getElementById("points-data").textContent);
    const places = names.map(name => table.columns.indexOf(name));
    const quote = cell => /[",\n]/.test(cell) ? '"' + cell.replaceAll('"', '""') + '"' : cell;
    const rows = table.rows.map(row => places.map(place => row[place]))
        .filter(row => row.every(cell => cell !== null));
    return [names, ...rows].map(row => row.map(cell => quote(String(cell))).join(",") + "\n")
        .join("");
}

function prepareCsv(link) {
    link.addEventListener("click", () => {
        link.href = URL.createObjectURL(new Blob([csvOf(link.dataset.columns.split("|"))],
            {type: "text/csv"}));
    });
}

for (const figure of document.querySelectorAll("figure.topology"))
    figure.addEventListener("click", () => figure.classList.toggle("full"));
document.querySelectorAll("select").forEach(prepareSelect);
document.querySelectorAll("table.sortable").forEach(prepareTable);
document.querySelectorAll("a.csv").forEach(prepareCsv);
document.querySelectorAll("[data-elements]").forEach(prepareElements);
window.addEventListener("load", () => {
    document.documentElement.dataset.loadedMs = Math.round(performance.now());
});
