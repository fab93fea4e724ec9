// A search drawn: what each setting did with its limits, A against A, and whether the incumbent and the host stayed the same.
(() => {
  const dots = (label, data, color, more) =>
    ({type: 'line', label, data, borderColor: color, backgroundColor: color, showLine: false, pointRadius: 3, ...more});

  const rows = data.forest;
  const box = document.getElementById('forest-box');
  if (rows.length === 0) {
    box.remove();
  } else {
    box.style.height = `${8 + 1.6 * rows.length}rem`;
    const shade = (row) => row.adopted ? good : row.verdict === 'lose' ? bad : accent;
    const clip = Math.max(5, ...rows.map((row) => Math.abs(row.mean))) * 1.3;
    const cut = (value) => Math.max(-clip, Math.min(clip, value));
    new Chart(document.getElementById('forest'), {
      data: {
        labels: rows.map((row) => row.name),
        datasets: [
          {type: 'line', label: 'mean', data: rows.map((row) => row.mean), showLine: false, pointRadius: 4,
            borderColor: rows.map(shade), backgroundColor: rows.map(shade), indexAxis: 'y'},
          {type: 'bar', label: '90 % sequence', data: rows.map((row) => row.low === null ? null : [cut(row.low), cut(row.high)]),
            backgroundColor: rows.map((row) => shade(row) + '55'), barThickness: 8, indexAxis: 'y'},
        ],
      },
      options: {
        indexAxis: 'y',
        scales: {x: axis('change of the time, % (left is faster)'), y: {ticks: {autoSkip: false}}},
        plugins: {
          legend: {display: false},
          title: {display: true, text: 'Change with its limits; green: adopted, red: slower'},
          tooltip: {callbacks: {label: (c) => {
            const row = rows[c.dataIndex];
            const limits = row.low === null ? 'too few pairs for limits' : `${row.low.toFixed(2)} to ${row.high.toFixed(2)}`;
            return `${row.verdict}: ${row.mean.toFixed(2)} % (${limits}), ${row.pairs} pairs`;
          }}},
        },
      },
    });
  }

  const chart = (id, title, datasets, x, y) => new Chart(document.getElementById(id), {
    type: 'line',
    data: {datasets},
    options: {
      parsing: false,
      scales: {x: axis(x, {type: 'linear'}), y: axis(y)},
      plugins: {title: {display: true, text: title},
        tooltip: {callbacks: {label: (c) => `${c.dataset.label}: ${c.parsed.y.toPrecision(4)}` + (c.raw.what ? `, ${c.raw.what}` : '')}}},
    },
  });
  const zero = data.pairs.length === 0 ? [] : [{x: 0, y: 0}, {x: data.pairs[data.pairs.length - 1].minutes, y: 0}];
  chart('null', 'A against A', [
    dots('a pair', data.pairs.filter((p) => p.kind === 'aa').map((p) => ({x: p.minutes, y: p.percent})), accent),
    dots('equal', zero, ink, {showLine: true, pointRadius: 0, borderWidth: 1}),
  ], 'minutes', '%');
  chart('drift', 'The incumbent\'s time, and that of one fixed request', [
    dots('TPOT', data.pairs.filter((p) => p.kind !== 'prune').map((p) => ({x: p.minutes, y: p.a_ms, what: p.what})), accent),
    dots('fixed request', data.pairs.filter((p) => p.probe_ms !== null && p.kind !== 'prune')
      .map((p) => ({x: p.minutes, y: p.probe_ms, what: p.what})), good, {pointRadius: 2}),
  ], 'minutes', 'ms');
  const bandwidth = data.pairs.filter((p) => p.read_gbs !== null).map((p) => ({x: p.minutes, y: p.read_gbs}));
  if (bandwidth.length > 0) {
    chart('bandwidth', 'Memory bandwidth of this host', [dots('read', bandwidth, good, {showLine: true})], 'minutes', 'GB/s');
  } else {
    document.getElementById('bandwidth-box').remove();
  }
})();
