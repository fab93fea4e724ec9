// The walk of a comparison: each pair's ratio with what was known after it, the evidence, both servers' times, the host's bandwidth.
(() => {
  const points = (pairs, key) => pairs.filter((p) => p[key] !== null).map((p) => ({x: p.pair, y: p[key], first: p.first}));
  const curve = (label, data, color, more) =>
    ({label, data, borderColor: color, backgroundColor: color, pointRadius: 0, borderWidth: 2, ...more});
  const dots = (label, data, color) => curve(label, data, color, {showLine: false, pointRadius: 3});

  const chart = (id, title, datasets, y) => new Chart(document.getElementById(id), {
    type: 'line',
    data: {datasets},
    options: {
      parsing: false,
      scales: {x: axis('pair', {type: 'linear', ticks: {precision: 0}}), y},
      plugins: {
        title: {display: true, text: title},
        tooltip: {callbacks: {label: (c) =>
          `${c.dataset.label}: ${c.parsed.y.toPrecision(5)}` + (c.raw.first ? `, ${c.raw.first} first` : '')}},
      },
    },
  });

  const all = [...data.null, ...data.real].map((p) => p.pair);
  const level = (value) => all.length === 0 ? [] : [{x: Math.min(...all), y: value}, {x: Math.max(...all), y: value}];
  const walk = [
    dots('B / A of a pair', points(data.real, 'ratio'), accent),
    dots('A / A of a pair', points(data.null, 'ratio'), line),
    curve('mean', points(data.real, 'mean'), accent),
    curve('lower limit', points(data.real, 'low'), accent, {borderDash: [4, 3], borderWidth: 1}),
    curve('upper limit', points(data.real, 'high'), accent, {borderDash: [4, 3], borderWidth: 1}),
    curve('equal', level(1), ink, {borderWidth: 1}),
  ];
  if (data.target !== null) walk.push(curve('target', level(data.target), good, {borderWidth: 1}));
  chart('walk', 'TPOT of B / A, and its sequence', walk, axis('ratio'));
  chart('evidence', 'Evidence against "no difference"', [
    curve('E, B with A', points(data.real, 'e'), accent),
    curve('E, A with A', points(data.null, 'e'), ink),
    curve('rejects', level(data.threshold), bad, {borderWidth: 1}),
  ], axis('E', {type: 'logarithmic'}));
  chart('times', 'TPOT of both servers', [
    curve('A', points(data.real, 'a_ms'), ink, {pointRadius: 2}),
    curve('B', points(data.real, 'b_ms'), accent, {pointRadius: 2}),
  ], axis('ms'));
  if (data.read_gbs.length > 0) {
    chart('drift', 'Memory bandwidth of this host', [
      curve('read', data.read_gbs.map((y, i) => ({x: 4 * i, y})), good, {pointRadius: 2}),
    ], axis('GB/s', {beginAtZero: true}));
  } else {
    document.getElementById('drift-box').remove();
  }
})();
