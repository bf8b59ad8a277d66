import uPlot from 'uplot';
import type { Series } from './model.js';

/** A line over epochs in a band from `lows` to `highs`, drawn into `host` and as wide as it. */
export function createChart(host: HTMLElement, series: Series): { update(series: Series): void; close(): void } {
  const style = getComputedStyle(host);
  const ink = style.getPropertyValue('--quiet').trim();
  const accent = style.getPropertyValue('--accent').trim();
  const axis = { stroke: ink, grid: { stroke: style.getPropertyValue('--line').trim() } };
  const edge = { stroke: accent, width: 0.5, points: { show: false } };
  const chart = new uPlot({
    width: Math.max(host.clientWidth, 1), height: 180, legend: { show: false }, scales: { x: { time: false } },
    axes: [axis, { ...axis, size: 64 }],
    series: [{}, edge, edge, { stroke: accent, width: 2 }],
    bands: [{ series: [1, 2], fill: `${accent}33` }],
  }, dataOf(series), host);
  const observer = new ResizeObserver(() => chart.setSize({ width: Math.max(host.clientWidth, 1), height: 180 }));
  observer.observe(host);
  return {
    update: (next) => chart.setData(dataOf(next)),
    close() {
      observer.disconnect();
      chart.destroy();
    },
  };
}

function dataOf({ epochs, values, lows, highs }: Series): uPlot.AlignedData {
  return [[...epochs], [...highs], [...lows], [...values]];
}
