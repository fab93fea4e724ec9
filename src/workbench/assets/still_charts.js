// Colours of the page and what charts that are drawn once have in common, for the script after this one.
'use strict';
const style = getComputedStyle(document.documentElement);
const colour = (name) => style.getPropertyValue(name).trim();
const ink = colour('--ink'), line = colour('--line'), accent = colour('--accent'), good = colour('--good'), bad = colour('--bad');
Chart.defaults.color = ink;
Chart.defaults.borderColor = line;
Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;

const axis = (text, more) => ({title: {display: true, text}, ...more});
