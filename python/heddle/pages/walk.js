(function () {
  'use strict';
  var box = document.getElementById('search'), hits = document.getElementById('hits');
  var sections = Array.from(document.querySelectorAll('section'));
  var current = sections[0], chosen = 0;

  /* What can be found: every section and every leaf, under its path. */
  var places = Array.from(document.querySelectorAll('section, details')).map(function (e) {
    var text = e.id.slice(2).split(':');
    return { id: e.id, path: text[0] || 'platform', type: text[1],
             words: (e.id.slice(2) + ' ' + e.textContent).toLowerCase() };
  });

  function svg() { return current.querySelector('svg'); }

  function show() {
    var wanted = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    current = wanted ? wanted.closest('section') : sections[0];
    sections.forEach(function (s) { s.hidden = s !== current; });
    document.querySelectorAll('.found').forEach(function (e) { e.classList.remove('found'); });
    if (wanted && wanted.tagName === 'DETAILS') {
      wanted.open = true;
      wanted.scrollIntoView({ block: 'nearest' });
      current.querySelectorAll('svg a').forEach(function (a) {
        var to = a.getAttribute('xlink:href') || a.getAttribute('href');
        if (to === '#' + wanted.id) a.classList.add('found');
      });
    } else {
      scrollTo(0, 0);
    }
  }

  /* The picture is moved and scaled by its viewBox: text stays sharp. */
  function view() {
    var s = svg();
    if (!s.dataset.whole) s.dataset.whole = s.getAttribute('viewBox');
    return s.getAttribute('viewBox').split(/[ ,]+/).map(Number);
  }
  function look(v) { svg().setAttribute('viewBox', v.join(' ')); }
  function zoom(factor, x, y) {
    var v = view();
    if (x === undefined) { x = 0.5; y = 0.5; }
    look([v[0] + v[2] * x * (1 - factor), v[1] + v[3] * y * (1 - factor), v[2] * factor, v[3] * factor]);
  }
  function pan(x, y) { var v = view(); look([v[0] + v[2] * x, v[1] + v[3] * y, v[2], v[3]]); }
  function whole() { view(); svg().setAttribute('viewBox', svg().dataset.whole); }

  function list() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    var found = !words.length ? [] : places.filter(function (p) {
      return words.every(function (w) { return p.words.indexOf(w) >= 0; });
    });
    /* A hit in the path comes before one in the text. */
    found.sort(function (a, b) {
      var hit = function (p) { return (p.path + ' ' + p.type).toLowerCase().indexOf(words[0]) < 0; };
      return hit(a) - hit(b) || a.path.length - b.path.length;
    });
    hits.textContent = '';
    chosen = 0;
    found.slice(0, 30).forEach(function (p, i) {
      var li = document.createElement('li'), a = document.createElement('a');
      a.href = '#' + p.id;
      a.textContent = p.path + ' : ' + p.type;
      a.onclick = leave;
      li.className = i ? '' : 'chosen';
      li.appendChild(a);
      hits.appendChild(li);
    });
  }
  function choose(step) {
    if (!hits.children.length) return;
    hits.children[chosen].className = '';
    chosen = (chosen + step + hits.children.length) % hits.children.length;
    hits.children[chosen].className = 'chosen';
    hits.children[chosen].scrollIntoView({ block: 'nearest' });
  }
  function leave() { hits.textContent = ''; box.blur(); }
  function up() {
    var above = current.querySelectorAll('nav a');
    if (above.length) location.hash = above[above.length - 1].getAttribute('href');
  }

  box.addEventListener('input', list);
  box.addEventListener('keydown', function (e) {
    if (e.key === 'ArrowDown') choose(1);
    else if (e.key === 'ArrowUp') choose(-1);
    else if (e.key === 'Escape') { box.value = ''; leave(); }
    else if (e.key === 'Enter' && hits.children.length) {
      location.hash = hits.children[chosen].firstChild.getAttribute('href');
      leave();
    } else return;
    e.preventDefault();
  });
  var keys = {
    '+': function () { zoom(0.8); }, '=': function () { zoom(0.8); }, '-': function () { zoom(1.25); },
    '0': whole, '/': function () { box.focus(); box.select(); }, 'u': up, 'Backspace': up,
    'h': function () { pan(-0.1, 0); }, 'l': function () { pan(0.1, 0); },
    'k': function () { pan(0, -0.1); }, 'j': function () { pan(0, 0.1); }
  };
  addEventListener('keydown', function (e) {
    if (e.target === box || e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
  });
  document.querySelectorAll('.tools button').forEach(function (b) {
    b.onclick = function () { keys[b.dataset.key](); };
  });
  document.querySelectorAll('.picture').forEach(function (p) {
    var from = null, moved = false;
    p.addEventListener('wheel', function (e) {
      if (!e.ctrlKey && !e.shiftKey) return; /* the page scrolls */
      var r = svg().getBoundingClientRect();
      e.preventDefault();
      zoom(e.deltaY > 0 || e.deltaX > 0 ? 1.15 : 1 / 1.15, (e.clientX - r.left) / r.width, (e.clientY - r.top) / r.height);
    }, { passive: false });
    p.addEventListener('pointerdown', function (e) { from = [e.clientX, e.clientY]; moved = false; });
    p.addEventListener('pointermove', function (e) {
      if (!from || !e.buttons) return;
      var r = svg().getBoundingClientRect();
      if (!moved && Math.hypot(e.clientX - from[0], e.clientY - from[1]) < 4) return;
      moved = true;
      svg().classList.add('held');
      pan((from[0] - e.clientX) / r.width, (from[1] - e.clientY) / r.height);
      from = [e.clientX, e.clientY];
    });
    addEventListener('pointerup', function () { from = null; svg().classList.remove('held'); });
    p.addEventListener('click', function (e) { if (moved) { e.preventDefault(); e.stopPropagation(); } }, true);
    p.addEventListener('dragstart', function (e) { e.preventDefault(); });
  });
  addEventListener('hashchange', show);
  show();
})();
