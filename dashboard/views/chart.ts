import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { html } from '../base/html.js';
import { paint } from '../base/theme.js';
import {
  createLineChart, type ChartContent, type ChartOptions, type LineChart,
} from '../charts/line-chart.js';

/** The contents of a chart, and its label. */
export interface ChartFacts extends ChartOptions {
  readonly content: ChartContent;
  /** For readers who do not see it. */
  readonly label: string;
}

/** Lines over time inside their bands. */
export function Chart(facts: ChartFacts): VNode {
  const { content, label, axis } = facts;
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<LineChart | null>(null);
  const latest = useRef(facts);
  latest.current = facts;
  // The canvas has the colours of the theme at the time of drawing. A new theme draws it again.
  const painted = paint.value;
  useEffect(() => {
    const now = latest.current;
    chart.current = createLineChart(host.current!, now.content, {
      ...now, axis,
      onPoint: (place) => latest.current.onPoint(place),
      onPick: (place) => latest.current.onPick(place),
      onBrush: (from, to) => latest.current.onBrush(from, to),
    });
    return () => chart.current?.close();
  }, [painted, axis]);
  useEffect(() => chart.current?.update(content), [content]);
  return html`<div class="chart" role="img" aria-label=${label} ref=${host}></div>`;
}
