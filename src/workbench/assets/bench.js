// Draws the curves of a benchmark's report from `data` (report_html.cc): times of requests in µs from their load's start, gaps between
// chunks in µs.
'use strict';
(() => {
  const byId = (id) => document.getElementById(id);
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const charts = new Map();
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const palette = () => dark.matches
    ? ['#7fb2f0', '#f2b36b', '#6ccb8b', '#d7a3f5', '#f28b82', '#5fd0d3', '#e8d36a', '#c0c7d1']
    : ['#2464b4', '#c4661f', '#1f7a3a', '#7a3fb0', '#b3261e', '#0b7b80', '#8a6d00', '#56606e'];
  const color = (i) => palette()[i % palette().length];
  const number = (value) => value >= 1000 ? value.toFixed(0) : value >= 100 ? value.toFixed(1) : value >= 1 ? value.toFixed(2) : value.toFixed(4);
  const show = (value) => value === null || value === undefined ? '-' : number(value);

  function draw(id, label, config) {
    const canvas = byId(id);
    if (charts.has(id)) charts.get(id).destroy();
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', label);
    const {legend, options, ...chart} = config;
    chart.options = {
      ...options,
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      plugins: {title: {display: true, text: label}, legend: {labels: {boxWidth: 24, ...legend}}, ...options.plugins},
    };
    charts.set(id, new Chart(canvas, chart));
  }

  const lineLegend = {usePointStyle: true, pointStyle: 'line'};
  const axis = (text, more) => ({title: {display: true, text}, ...more});
  const curve = (label, i, points, more) =>
    ({label, data: points, borderColor: color(i), backgroundColor: color(i), borderWidth: 2, pointRadius: 0, pointHitRadius: 8, ...more});

  function drawByUsers(id, title, key) {
    const datasets = ['mean', 'p50', 'p90', 'p99'].map((which, i) => curve(
      which, i, data.loads.map((load) => load[key].count > 0 ? load[key][which] : null),
      {pointRadius: 3, borderDash: which === 'mean' ? [] : [6, 2 + 2 * i]}));
    draw(id, title, {
      type: 'line',
      legend: lineLegend,
      data: {labels: data.loads.map((load) => load.name), datasets},
      options: {scales: {x: axis('users'), y: axis('ms', {beginAtZero: true})}, interaction: {mode: 'index', intersect: false}},
    });
  }

  // At most some hundred points, and each of the last fifty: the tail is what one looks for.
  function cumulative(values) {
    const sorted = Float64Array.from(values).sort();
    const n = sorted.length, tail = Math.max(0, n - 50), step = Math.max(1, tail / 300);
    const points = [];
    for (let at = 0; at < tail; at += step) points.push({x: sorted[Math.floor(at)], y: 100 * (Math.floor(at) + 1) / n});
    for (let at = tail; at < n; at++) points.push({x: sorted[at], y: 100 * (at + 1) / n});
    return points;
  }

  const succeeded = (load, i) => load.outcome[i] === 0;
  function gapsOf(load) {
    const all = [];
    load.traces.forEach((gaps, i) => {
      if (gaps !== null && succeeded(load, i)) for (let k = 1; k < gaps.length; k++) all.push(gaps[k] / 1000);
    });
    return all;
  }

  const columns = {
    'ttft-cdf': ['TTFT: share of requests below', (load) => load.ttft.filter((value) => value !== null)],
    'tpot-cdf': ['TPOT: share of requests below', (load) => load.tpot.filter((value) => value !== null)],
    'itl-cdf': ['ITL: share of gaps between chunks below', gapsOf],
  };
  function drawDistributions() {
    const logarithmic = byId('log').checked;
    for (const [id, [title, values]] of Object.entries(columns)) {
      const datasets = data.loads.map((load, i) => curve(load.name, i, cumulative(values(load))));
      draw(id, title, {
        type: 'line',
        legend: lineLegend,
        data: {datasets},
        options: {
          parsing: false,
          scales: {
            x: axis('ms', {type: logarithmic ? 'logarithmic' : 'linear'}),
            y: axis('%', {min: 0, max: 100}),
          },
          interaction: {mode: 'nearest', axis: 'x', intersect: false},
        },
      });
    }
  }

  // Rows of a timeline: a request takes the first that is free when it starts, as a connection does.
  function lanesOf(load) {
    const order = load.start.map((_, i) => i).filter((i) => load.start[i] !== null).sort((a, b) => load.start[a] - load.start[b]);
    const free = [], lane = [];
    for (const i of order) {
      let at = free.findIndex((end) => end <= load.start[i]);
      if (at < 0) at = free.length;
      free[at] = load.end[i];
      lane[i] = at;
    }
    return {lane, count: free.length};
  }

  function tell(load, i) {
    const error = load.error[i] ? ': ' + load.error[i] : '';
    if (!succeeded(load, i)) return `request ${i}, ${data.outcomes[load.outcome[i]]}${error}`;
    return `request ${i}, ${load.tokens[i] ?? '-'} tokens, TTFT ${show(load.ttft[i])} ms, TPOT ${show(load.tpot[i])} ms`;
  }

  function drawTimeline() {
    const load = data.loads[byId('load').value];
    const {lane, count} = lanesOf(load);
    byId('timeline-box').style.height = Math.min(1600, Math.max(200, 24 * count + 120)) + 'px';
    const waiting = [], replying = [], failed = [];
    load.start.forEach((start, i) => {
      if (start === null) return;
      const bar = (from, to) => ({x: [from / 1e6, to / 1e6], y: String(lane[i] + 1), request: i});
      if (!succeeded(load, i)) {
        failed.push(bar(start, load.end[i]));
        return;
      }
      const first = load.first[i] === null ? load.end[i] : load.first[i];
      waiting.push(bar(start, first));
      replying.push(bar(first, load.end[i]));
    });
    const bars = (label, fill, list) =>
      ({label, data: list, backgroundColor: fill, borderColor: css('--paper'), borderWidth: 1, borderSkipped: false, grouped: false, barPercentage: 0.95});
    draw('timeline', `Requests, ${load.name}`, {
      type: 'bar',
      data: {
        labels: Array.from({length: count}, (_, i) => String(i + 1)),
        datasets: [bars('until the first chunk', color(1), waiting), bars('reply', color(0), replying), bars('failed', css('--bad'), failed)],
      },
      options: {
        indexAxis: 'y',
        scales: {x: axis('s', {beginAtZero: true}), y: axis('connection')},
        onClick: (_, hits) => {
          if (hits.length === 0) return;
          const bar = [waiting, replying, failed][hits[0].datasetIndex][hits[0].index];
          byId('request').value = bar.request;
          drawTrace();
        },
        plugins: {tooltip: {callbacks: {title: () => '', label: (item) => tell(load, item.raw.request)}}},
      },
    });
  }

  function drawTrace() {
    const load = data.loads[byId('load').value], i = Number(byId('request').value);
    const gaps = load.traces[i] || [], told = load.chunk_tokens[i];
    // Without the server's word each chunk is taken to bring as many tokens as the next: one, where there is no usage.
    const each = load.tokens[i] === null ? 1 : load.tokens[i] / gaps.length;
    const points = [];
    let position = 0;
    gaps.forEach((gap, k) => {
      position += told ? told[k] : each;
      if (k > 0) points.push({x: position, y: gap / 1000});
    });
    draw('trace', `Time since the chunk before, ${load.name}, request ${i}`, {
      type: 'line',
      data: {datasets: [curve('ITL', 0, points, {borderWidth: 1, pointRadius: points.length > 200 ? 1 : 2})]},
      options: {
        parsing: false,
        scales: {x: axis('output tokens so far', {type: 'linear'}), y: axis('ms', {beginAtZero: true})},
        plugins: {legend: {display: false}},
        interaction: {mode: 'nearest', axis: 'x', intersect: false},
      },
    });
    byId('trace-note').textContent = tell(load, i) + (data.untraced > 0
      ? `. The page leaves out the chunks of ${data.untraced} replies; requests.jsonl has them.` : '');
  }

  function option(value, text) {
    const element = document.createElement('option');
    element.value = value;
    element.textContent = text;
    return element;
  }

  function chooseLoad() {
    const load = data.loads[byId('load').value];
    byId('request').replaceChildren(...load.outcome.map((_, i) => option(i, tell(load, i))));
    drawTimeline();
    drawTrace();
  }

  function drawAll() {
    Chart.defaults.color = css('--ink');
    Chart.defaults.borderColor = css('--line');
    drawByUsers('tpot', 'TPOT', 'tpot_ms');
    drawByUsers('ttft', 'TTFT', 'ttft_ms');
    drawDistributions();
    drawTimeline();
    drawTrace();
  }

  if (!data.loads.some((load) => load.outcome.length > 0)) {
    byId('curves').remove();
    return;
  }
  byId('load').replaceChildren(...data.loads.map((load, i) => option(i, load.name)));
  byId('load').value = data.loads.length - 1;
  byId('load').addEventListener('change', chooseLoad);
  byId('request').addEventListener('change', drawTrace);
  byId('log').addEventListener('change', drawDistributions);
  dark.addEventListener('change', drawAll);
  chooseLoad();
  drawAll();
})();
