/** Label names and values of one series. Values come from bounded sets: study names and codes. */
export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(amount?: number, labels?: Labels): void;
  /** Sum over all series, or one series. */
  total(labels?: Labels): number;
  /** The values of one label among the series that have `labels`, with their sums. */
  by(name: string, labels: Labels): ReadonlyMap<string, number>;
}

export interface Histogram {
  observe(value: number): void;
  /** Upper bounds of the buckets, increasing; the last one is Infinity. */
  readonly bounds: readonly number[];
  /** Observations of each bucket since the start. */
  counts(): Float64Array;
}

/** One sample of a value that is read on demand. */
export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

type ReadSamples = () => readonly Sample[] | Promise<readonly Sample[]>;

/** Quantiles of recent observations, with the count and the sum of all. */
export interface Summary {
  /** By share, 0 to 1. */
  readonly quantiles: Readonly<Record<string, number>>;
  readonly sum: number;
  readonly count: number;
}

/** Numbers about a running server, in the Prometheus text format (version 0.0.4). */
export interface MetricRegistry {
  /**
   * @param present series that are shown with 0 before they first count. A rate over a series that
   *   appears late misses its first count. Default: the one without labels, until another counts.
   */
  counter(name: string, help: string, present?: () => readonly Labels[]): Counter;
  /** @param bounds upper bounds of the buckets, increasing; +Inf is added. */
  histogram(name: string, help: string, bounds: readonly number[]): Histogram;
  /** Registers a gauge; each `render` calls `read`. */
  gauge(name: string, help: string, read: ReadSamples): void;
  /** Registers a counter that is kept elsewhere; each `render` calls `read`. */
  countedElsewhere(name: string, help: string, read: ReadSamples): void;
  /** Registers quantiles that are kept elsewhere; each `render` calls `read`. */
  summary(name: string, help: string, read: () => Promise<Summary>): void;
  render(): Promise<string>;
}

interface Series {
  readonly labels: Labels;
  value: number;
}

type Family = () => Promise<string[]>;

/** Creates counters in memory. Adding to them never waits and never fails. */
export function createMetricRegistry(): MetricRegistry {
  const families: Family[] = [];
  const readElsewhere = (name: string, help: string, kind: string, read: ReadSamples): void => {
    families.push(async () => [
      ...heading(name, help, kind),
      ...(await readOrNone(read)).map(({ labels, value }) => `${name}${labelText(labels)} ${value}`),
    ]);
  };
  return {
    counter(name, help, present) {
      const series = new Map<string, Series>();
      families.push(async () => {
        const counted = [...series].map(([text, { value }]) => `${name}${text} ${value}`);
        const expected = present?.() ?? (series.size === 0 ? [{}] : []);
        const zero = expected.map(labelText).filter((text) => !series.has(text))
          .map((text) => `${name}${text} 0`);
        return [...heading(name, help, 'counter'), ...counted, ...zero];
      });
      return counterOver(series);
    },
    histogram(name, help, bounds) {
      const counts = new Float64Array(bounds.length + 1);
      let sum = 0;
      families.push(async () =>
        [...heading(name, help, 'histogram'), ...histogramLines(name, bounds, counts, sum)]);
      return {
        bounds: [...bounds, Infinity],
        counts: () => counts.slice(),
        observe(value) {
          const bucket = bounds.findIndex((bound) => value <= bound);
          counts[bucket < 0 ? bounds.length : bucket]! += 1;
          sum += value;
        },
      };
    },
    gauge: (name, help, read) => readElsewhere(name, help, 'gauge', read),
    countedElsewhere: (name, help, read) => readElsewhere(name, help, 'counter', read),
    summary(name, help, read) {
      families.push(async () => {
        const [summary] = await readOrNone(async () => [await read()]);
        return [
          ...heading(name, help, 'summary'), ...(summary === undefined ? [] : [
            ...Object.entries(summary.quantiles).map(([share, value]) =>
              `${name}${labelText({ quantile: share })} ${value}`),
            `${name}_sum ${summary.sum}`, `${name}_count ${summary.count}`,
          ]),
        ];
      });
    },
    async render() {
      const parts = await Promise.all(families.map((family) => family()));
      return `${parts.flat().join('\n')}\n`;
    },
  };
}

function counterOver(series: Map<string, Series>): Counter {
  return {
    add(amount = 1, labels = {}) {
      const key = labelText(labels);
      const found = series.get(key);
      if (found === undefined) series.set(key, { labels, value: amount });
      else found.value += amount;
    },
    total: (labels) =>
      labels === undefined
        ? [...series.values()].reduce((sum, { value }) => sum + value, 0)
        : (series.get(labelText(labels))?.value ?? 0),
    by(name, labels) {
      const sums = new Map<string, number>();
      for (const { labels: own, value } of series.values()) {
        const label = own[name];
        if (label === undefined
            || Object.entries(labels).some(([key, wanted]) => own[key] !== wanted)) continue;
        sums.set(label, (sums.get(label) ?? 0) + value);
      }
      return sums;
    },
  };
}

/**
 * Returns nothing for a value that cannot be read now, so that the rest of the page is still
 * rendered.
 */
async function readOrNone<T>(
  read: () => readonly T[] | Promise<readonly T[]>,
): Promise<readonly T[]> {
  try {
    return await read();
  } catch {
    return [];
  }
}

function heading(name: string, help: string, kind: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`];
}

function histogramLines(
  name: string, bounds: readonly number[], counts: Float64Array, sum: number,
): string[] {
  let below = 0;
  const lines = [...bounds, Infinity].map((bound, i) => {
    below += counts[i]!;
    return `${name}_bucket{le="${bound === Infinity ? '+Inf' : bound}"} ${below}`;
  });
  return [...lines, `${name}_sum ${sum}`, `${name}_count ${below}`];
}

function labelText(labels: Labels | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([name, value]) => {
    const escaped = value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
    return `${name}="${escaped}"`;
  });
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
