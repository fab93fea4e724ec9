// Bars of steps and a timeline of one step, drawn from data.ranks (report_html.cc says what is in it).
'use strict';
(() => {
  const css = getComputedStyle(document.documentElement);
  const colors = data.classes.map((name) => css.getPropertyValue('--' + name).trim());
  const ink = css.getPropertyValue('--ink').trim(), line = css.getPropertyValue('--line').trim(), soft = css.getPropertyValue('--soft').trim();
  const $ = (id) => document.getElementById(id);
  const tip = $('tip');
  const us = (ns) => (ns / 1000).toFixed(ns < 1e6 ? 2 : 1) + ' µs';
  let rank = data.ranks[0], step = 0, from = 0, to = 1;

  // Starts come as differences; `reach` is the latest end up to each slice, so that what overlaps a time can be searched for.
  for (const r of data.ranks) {
    for (const lane of r.lanes) {
      const n = lane.start.length, open = [];
      lane.reach = new Float64Array(n);
      lane.row = new Uint8Array(n);
      lane.rows = 1;
      for (let i = 0, at = 0, reach = -Infinity; i < n; i++) {
        at = lane.start[i] += at;
        const end = at + lane.length[i];
        lane.reach[i] = reach = Math.max(reach, end);
        if (!lane.nested) continue;
        while (open.length && open[open.length - 1] <= at) open.pop();
        lane.row[i] = Math.min(open.length, 7);
        lane.rows = Math.max(lane.rows, lane.row[i] + 1);
        open.push(end);
      }
    }
  }

  function firstAbove(values, x) {
    let low = 0, high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] > x) high = middle; else low = middle + 1;
    }
    return low;
  }

  function prepare(canvas, height) {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
    if (height) canvas.style.height = height + 'px';
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, canvas.clientHeight);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    return [context, width, canvas.clientHeight];
  }

  // Stacked bars; where steps are many, a bar is the mean of neighbours.
  function barOf(x, width) {
    const n = rank.steps.length, bars = Math.max(1, Math.min(n, Math.floor(width / 4)));
    const bar = Math.min(bars - 1, Math.max(0, Math.floor((x / width) * bars)));
    return [Math.floor((bar * n) / bars), Math.floor(((bar + 1) * n) / bars), bars];
  }

  function drawSteps() {
    const [context, width, height] = prepare($('steps'));
    const bars = barOf(0, width)[2], longest = Math.max(...rank.steps.map((s) => s.end - s.start));
    for (let bar = 0; bar < bars; bar++) {
      const [first, last] = barOf(((bar + 0.5) / bars) * width, width);
      const x = (bar / bars) * width, w = Math.max(1, Math.min(width / bars - 2, 80));
      let y = height - 16;
      for (let c = 0; c < colors.length; c++) {
        let ns = 0;
        for (let i = first; i < last; i++) ns += rank.steps[i].ns[c] / (last - first);
        const h = (ns / longest) * (height - 24);
        context.fillStyle = colors[c];
        context.fillRect(x + 1, y - h, w, h);
        y -= h;
      }
      if (step >= first && step < last) {
        context.strokeStyle = ink;
        context.strokeRect(x + 0.5, 2.5, w + 1, height - 19);
      }
      if (width / bars > 26 || bar % Math.ceil(40 / (width / bars)) === 0) {
        context.fillStyle = ink;
        context.fillText(rank.steps[first].id, x + 2, height - 7);
      }
    }
  }

  const gutter = () => ($('timeline').clientWidth < 600 ? 0 : 150);
  const rowHeight = 15;

  function shown() {
    return rank.lanes.filter((lane) => {
      const s = rank.steps[step], i = firstAbove(lane.reach, s.start);
      return i < lane.start.length && lane.start[i] < s.end;
    });
  }

  function layout() {
    let y = 18;
    return shown().map((lane) => {
      const label = gutter() ? 0 : 14, entry = { lane, label: y + label / 2, y: y + label };
      y += label + lane.rows * rowHeight + 5;
      return entry;
    });
  }

  function drawTimeline() {
    const lanes = layout(), last = lanes[lanes.length - 1];
    const [context, width, height] = prepare($('timeline'), last ? last.y + last.lane.rows * rowHeight + 6 : 60);
    const left = gutter(), scale = (width - left) / (to - from), base = rank.steps[step].start;
    const grain = 10 ** Math.floor(Math.log10((to - from) / 4));
    context.fillStyle = ink;
    for (let t = Math.ceil((from - base) / grain) * grain; base + t < to; t += grain) {
      const x = left + (base + t - from) * scale;
      context.fillStyle = line;
      context.fillRect(x, 14, 1, height);
      context.fillStyle = ink;
      if ((t / grain) % 2 === 0) context.fillText(us(t), x + 2, 8);
    }
    for (const { lane, y, label } of lanes) {
      const edge = new Float64Array(lane.rows).fill(-1), edgeClass = new Int8Array(lane.rows).fill(-1);
      for (let i = firstAbove(lane.reach, from); i < lane.start.length && lane.start[i] < to; i++) {
        const end = lane.start[i] + lane.length[i];
        if (end <= from) continue;
        const x0 = Math.max(left, left + (lane.start[i] - from) * scale), x1 = Math.min(width, left + (end - from) * scale), row = lane.row[i];
        if (x1 - edge[row] < 0.5 && lane.kind[i] === edgeClass[row]) continue;  // within a pixel that has this colour
        context.fillStyle = colors[lane.kind[i]];
        context.fillRect(x0, y + row * rowHeight, Math.max(x1 - x0 - (x1 - x0 > 3 ? 0.5 : 0), 0.5), rowHeight - 1);
        edge[row] = x1;
        edgeClass[row] = lane.kind[i];
        if (x1 - x0 > 34) {
          context.save();
          context.beginPath();
          context.rect(x0, y + row * rowHeight, x1 - x0 - 2, rowHeight);
          context.clip();
          context.fillStyle = '#fff';
          context.fillText(rank.names[lane.name[i]], x0 + 3, y + row * rowHeight + rowHeight / 2);
          context.restore();
        }
      }
      if (left) {
        context.fillStyle = soft;
        context.fillRect(0, y - 2, left - 4, lane.rows * rowHeight + 3);
      }
      context.fillStyle = ink;
      context.fillText(lane.label, 4, left ? y + rowHeight / 2 : label, (left || width) - 10);
    }
  }

  function select(index) {
    step = Math.max(0, Math.min(rank.steps.length - 1, index));
    from = rank.steps[step].start;
    to = rank.steps[step].end;
    const s = rank.steps[step];
    $('which').textContent = `step ${s.id}: ${us(s.end - s.start)}${s.complete ? '' : ' (not whole)'}`;
    drawSteps();
    drawTimeline();
  }

  function zoom(factor, x) {
    const s = rank.steps[step], left = gutter(), width = $('timeline').clientWidth - left;
    const at = from + ((Math.max(x, left) - left) / width) * (to - from);
    const span = Math.max(50, Math.min(s.end - s.start, (to - from) * factor));
    from = Math.max(s.start, Math.min(s.end - span, at - ((at - from) / (to - from)) * span));
    to = from + span;
    drawTimeline();
  }

  function pan(pixels) {
    const s = rank.steps[step], span = to - from;
    from = Math.max(s.start, Math.min(s.end - span, from - (pixels / ($('timeline').clientWidth - gutter())) * span));
    to = from + span;
    drawTimeline();
  }

  function say(event, text) {
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    tip.style.left = Math.max(4, Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 8)) + 'px';
    tip.style.top = Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8) + 'px';
  }

  function found(x, y) {
    const left = gutter(), width = $('timeline').clientWidth;
    const entry = layout().find(({ lane, y: top }) => y >= top && y < top + lane.rows * rowHeight);
    if (!entry || x < left) return '';
    const { lane, y: top } = entry, row = Math.floor((y - top) / rowHeight), slack = ((to - from) / (width - left)) * 1.5;
    const t = from + ((x - left) / (width - left)) * (to - from);
    for (let i = firstAbove(lane.start, t + slack) - 1; i >= 0 && lane.reach[i] > t - slack; i--) {
      if (lane.row[i] !== row || lane.start[i] + lane.length[i] <= t - slack) continue;
      return `${rank.names[lane.name[i]]}, ${us(lane.length[i])}, ${data.classes[lane.kind[i]]}, at ${us(lane.start[i] - rank.steps[step].start)}`;
    }
    return '';
  }

  $('steps').addEventListener('click', (event) => select(barOf(event.offsetX, $('steps').clientWidth)[0]));
  $('steps').addEventListener('mousemove', (event) => {
    const [first, last] = barOf(event.offsetX, $('steps').clientWidth), s = rank.steps[first];
    const parts = data.classes.map((name, c) => [name, s.ns[c]]).filter((part) => part[1] > 0).map((part) => `${part[0]} ${us(part[1])}`);
    say(event, `step ${s.id}${last - first > 1 ? ` and ${last - first - 1} after it` : ''}: ${us(s.end - s.start)}; ${parts.join(', ')}`);
  });
  for (const id of ['steps', 'timeline']) $(id).addEventListener('mouseleave', (event) => say(event, ''));
  const canvas = $('timeline');
  let held = null;
  canvas.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.shiftKey && !event.altKey) return;  // the page scrolls
    event.preventDefault();
    zoom(event.deltaY + event.deltaX > 0 ? 1.25 : 0.8, event.offsetX);
  }, { passive: false });
  canvas.addEventListener('dblclick', (event) => zoom(0.4, event.offsetX));
  canvas.addEventListener('pointerdown', (event) => { held = event.clientX; canvas.setPointerCapture(event.pointerId); say(event, found(event.offsetX, event.offsetY)); });
  canvas.addEventListener('pointerup', () => { held = null; });
  canvas.addEventListener('pointercancel', () => { held = null; });
  canvas.addEventListener('pointermove', (event) => {
    if (held === null) return say(event, found(event.offsetX, event.offsetY));
    pan(event.clientX - held);
    held = event.clientX;
  });
  $('before').addEventListener('click', () => select(step - 1));
  $('after').addEventListener('click', () => select(step + 1));
  $('closer').addEventListener('click', () => zoom(0.5, gutter() + (canvas.clientWidth - gutter()) / 2));
  $('farther').addEventListener('click', () => zoom(2, gutter() + (canvas.clientWidth - gutter()) / 2));
  $('rank').addEventListener('change', (event) => {
    rank = data.ranks[event.target.selectedIndex];
    for (const section of document.querySelectorAll('[data-rank]')) section.hidden = Number(section.dataset.rank) !== event.target.selectedIndex;
    select(0);
  });
  window.addEventListener('resize', () => { drawSteps(); drawTimeline(); });
  const middle = rank.steps.map((s, i) => [s.end - s.start, i]).sort((a, b) => a[0] - b[0])[rank.steps.length >> 1][1];
  select(middle);
})();
