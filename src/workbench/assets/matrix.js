// Draws TPOT and TTFT of a matrix's servers side by side from `data.rows` (matrix_text.cc).
'use strict';
(() => {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const colors = () => dark.matches
    ? ['#c0c7d1', '#7fb2f0', '#f2b36b', '#6ccb8b', '#d7a3f5', '#f28b82', '#5fd0d3', '#e8d36a']
    : ['#56606e', '#2464b4', '#c4661f', '#1f7a3a', '#7a3fb0', '#b3261e', '#0b7b80', '#8a6d00'];
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const places = [...new Set(data.rows.map((row) => row.at))], servers = [...new Set(data.rows.map((row) => row.server))];
  const charts = new Map();

  function draw(id, title) {
    const canvas = document.getElementById(id);
    if (charts.has(id)) charts.get(id).destroy();
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', title);
    const value = (at, server) => data.rows.find((row) => row.at === at && row.server === server)?.[id] ?? null;
    charts.set(id, new Chart(canvas, {
      type: 'bar',
      data: {
        labels: places,
        datasets: servers.map((server, i) =>
          ({label: server, data: places.map((at) => value(at, server)), backgroundColor: colors()[i % colors().length]})),
      },
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        scales: {y: {beginAtZero: true, title: {display: true, text: 'ms'}}},
        plugins: {title: {display: true, text: title}, legend: {labels: {boxWidth: 14}}},
        interaction: {mode: 'index', intersect: false},
      },
    }));
  }

  function drawAll() {
    Chart.defaults.color = css('--ink');
    Chart.defaults.borderColor = css('--line');
    draw('tpot', 'TPOT');
    draw('ttft', 'TTFT');
  }

  dark.addEventListener('change', drawAll);
  drawAll();
})();
