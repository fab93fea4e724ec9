// Draws a ladder as waterfalls: one for each number of sequences of `data.waterfall`, then those of `data.others`.
'use strict';
(() => {
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const box = document.getElementById('waterfalls');
  const charts = [];

  // Chart.js squeezes a title that is too long for its line.
  const lines = (text) => text.replace(/(.{1,44})(\s|$)/g, '$1\n').trim();

  // levels: [{step, ms, whole}]; a whole one stands on the ground, others hang between the level before and their own.
  function add(title, levels) {
    const frame = document.createElement('div');
    frame.className = 'chart';
    frame.style.height = `${6 + 1.4 * levels.length}rem`;
    const canvas = document.createElement('canvas');
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', title.replaceAll('\n', ' '));
    frame.append(canvas);
    box.append(frame);
    const spans = levels.map((level, i) => level.whole || i === 0 ? [0, level.ms] : [level.ms, levels[i - 1].ms]);
    const colour = (level, i) => css(level.whole || i === 0 ? '--accent' : level.ms <= levels[i - 1].ms ? '--good' : '--bad');
    const draw = () => new Chart(canvas, {
      type: 'bar',
      data: {labels: levels.map((level) => level.step), datasets: [{data: spans, backgroundColor: levels.map(colour), minBarLength: 2}]},
      options: {
        indexAxis: 'y',
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        scales: {x: {beginAtZero: true, title: {display: true, text: 'ms'}}, y: {ticks: {autoSkip: false}}},
        plugins: {
          title: {display: true, text: title.split('\n')},
          legend: {display: false},
          tooltip: {callbacks: {label: (c) => `${levels[c.dataIndex].ms.toPrecision(4)} ms`}},
        },
      },
    });
    charts.push({draw, chart: null});
  }

  data.concurrency.forEach((c, load) => {
    if (data.waterfall.length === 0) return;
    const levels = data.waterfall.map((level) => ({step: level.step, ms: level.tpot_ms[load]}));
    levels.push({step: 'in the end', ms: levels.at(-1).ms, whole: true});
    add(`TPOT at c=${c}`, levels);
  });
  for (const other of data.others) {
    const levels = other.tpot_ms.map((ms, i) => ({step: i === 0 ? 'start' : `step ${i}`, ms}));
    for (const load of other.with_drafts) levels.push({step: `with drafts, c=${load.c}`, ms: load.tpot_ms, whole: true});
    add(lines(`${other.name}: ${other.note}`), levels);
  }

  function drawAll() {
    Chart.defaults.color = css('--ink');
    Chart.defaults.borderColor = css('--line');
    for (const entry of charts) {
      if (entry.chart) entry.chart.destroy();
      entry.chart = entry.draw();
    }
  }

  dark.addEventListener('change', drawAll);
  drawAll();
})();
