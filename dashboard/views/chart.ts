import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { html } from '../base/html.js';
import type { Series } from '../base/model.js';
import { paint } from '../base/theme.js';
import { createLineChart, type LineChart } from '../charts/line-chart.js';

/** A line over epochs. `onPoint` gets the place of the release under the pointer. */
export function Chart({ series, label, onPoint }: {
  readonly series: Series; readonly label: string; readonly onPoint: (place: number | null) => void;
}): VNode {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<LineChart | null>(null);
  const latest = useRef(series);
  latest.current = series;
  // The canvas has the colours of the theme at the time of drawing. A new theme draws it again.
  const painted = paint.value;
  useEffect(() => {
    chart.current = createLineChart(host.current!, latest.current, onPoint);
    return () => chart.current?.close();
  }, [painted]);
  useEffect(() => chart.current?.update(series), [series]);
  return html`<div class="chart" role="img" aria-label=${label} ref=${host}></div>`;
}
