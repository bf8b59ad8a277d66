import uPlot from 'uplot';
import { coloursOf } from '../base/colours.js';
import type { Line } from './model.js';

/** Errors below this share of a spread look the same. */
const floor = 1e-3;

/**
 * Errors of every answer over the rounds, on a logarithmic scale: ten times the error is one step.
 */
export function createErrorChart(
  host: HTMLElement, lines: readonly Line[], colours: readonly string[], rounds: readonly number[],
): { update(lines: readonly Line[], rounds: readonly number[]): void; close(): void } {
  const shades = coloursOf(host, ['quiet', 'line']);
  const axis = {
    stroke: shades.quiet, grid: { stroke: shades.line, width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  const height = 300;
  const chart = new uPlot({
    width: Math.max(host.clientWidth, 1), height, legend: { show: false },
    scales: { x: { time: false }, y: { distr: 3 } },
    axes: [
      {
        ...axis, size: 28, gap: 6, label: 'round', labelSize: 18, labelGap: -2,
        grid: { show: false }, labelFont: axis.font, incrs: [1, 2, 5, 10, 20, 50, 100],
      },
      { ...axis, size: 52, filter: (_, splits) => splits.map(powerOfTen), grid: {
        ...axis.grid, filter: (_, splits) => splits.map(powerOfTen),
      },
        values: (_, splits) => splits.map((value) => (value === null ? '' : powerText(value))) },
    ],
    series: [{}, ...lines.map(({ isPrivate }, i) => ({
      stroke: colours[i]!, width: isPrivate ? 2.5 : 1.5, ...(!isPrivate && { dash: [5, 4] }),
      points: { size: 5 },
    }))],
  }, dataOf(lines, rounds), host);
  const observer =
    new ResizeObserver(() => chart.setSize({ width: Math.max(host.clientWidth, 1), height }));
  observer.observe(host);
  return {
    update: (next, at) => chart.setData(dataOf(next, at)),
    close() {
      observer.disconnect();
      chart.destroy();
    },
  };
}

function dataOf(lines: readonly Line[], rounds: readonly number[]): uPlot.AlignedData {
  const errors = lines.map((line) =>
    line.errors.map((error) => (error === null ? null : Math.max(floor, error))));
  return [[...rounds], ...errors];
}

/** 0.01, 1, 1,000, and then 10⁴: an axis has no room for a million. */
function powerText(value: number): string {
  if (value < 1e4) return value.toLocaleString('en-GB', { maximumFractionDigits: 6 });
  const digits = String(Math.round(Math.log10(value)));
  return `10${[...digits].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('')}`;
}

/** Null for all values in between: a line for each would hide the chart. */
function powerOfTen(value: number | null): number | null {
  if (value === null || value <= 0) return null;
  const power = Math.log10(value);
  return Math.abs(power - Math.round(power)) < 1e-6 ? value : null;
}
