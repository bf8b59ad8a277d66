/**
 * `<keelson-chart>`: a live chart of a study for the pages of other people. Importing this module
 * defines the element.
 *
 * @module keelson/chart
 * @example
 * import { KeelsonChart } from 'keelson/chart';
 *
 * const chart = new KeelsonChart();
 * chart.setAttribute('server', 'https://aggregator.example.org');
 * chart.setAttribute('study', 'flight-delays');
 * chart.setAttribute('server-key', 'ed42'.repeat(16));   // use the key that `keelson serve` prints
 * document.body.append(chart);
 */
import { KeelsonChart } from './chart-element.js';

export { KeelsonChart, type ChartAttributes } from './chart-element.js';
export type { ElementState } from './following.js';

declare global {
  interface HTMLElementTagNameMap {
    'keelson-chart': KeelsonChart;
  }
}

// A server that renders pages has no elements.
if (globalThis.customElements?.get('keelson-chart') === undefined) {
  globalThis.customElements?.define('keelson-chart', KeelsonChart);
}
