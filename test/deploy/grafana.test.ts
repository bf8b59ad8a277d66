import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { hasPromtool, promtoolOn } from '../support/promtool.js';
import { servedMetrics } from '../support/served-metrics.js';
import { root } from '../support/sources.js';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly datasource: object;
  readonly gridPos: {
    readonly x: number; readonly y: number; readonly w: number; readonly h: number;
  };
  readonly targets: readonly { readonly refId: string; readonly expr: string }[];
}

const dashboard = JSON.parse(readFileSync(`${root}deploy/grafana/keelson.json`, 'utf8')) as {
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly Panel[];
};
const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

/** Names of metrics in a query, with those of recording rules. */
const namesIn = (query: string): string[] =>
  query.match(/\b(?:keelson|process|nodejs)[_:][a-z0-9_:]+/g) ?? [];

async function knownNames(): Promise<Set<string>> {
  const page = await servedMetrics();
  const recorded = (parse(readFileSync(`${root}deploy/prometheus/keelson.rules.yml`, 'utf8')) as {
    groups: { rules: { record?: string }[] }[];
  }).groups.flatMap(({ rules }) => rules.flatMap(({ record }) => record ?? []));
  const served = [...page.matchAll(/^([a-z_0-9]+)[ {]/gm)].map(([, name]) => name!);
  return new Set([...served, ...recorded]);
}

describe('the dashboard for Grafana', () => {
  it('asks only for metrics that a server serves or that a rule records', async () => {
    const known = await knownNames();
    const asked = [...new Set(expressions.flatMap(namesIn))];
    expect(asked.length).toBeGreaterThan(15);
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
  });

  it('uses the variables that it declares', () => {
    const declared = new Set(dashboard.templating.list.map(({ name }) => name));
    const used = [...JSON.stringify(dashboard).matchAll(/\$\{?([a-z]+)\}?/g)]
      .map(([, name]) => name!);
    expect([...new Set(used)].sort()).toEqual([...declared].sort());
  });

  it('has panels with a title, a text and a place of their own', () => {
    const cells = new Set<string>();
    for (const { title, description, type, gridPos: { x, y, w, h } } of dashboard.panels) {
      expect(title).not.toBe('');
      expect(description).toMatch(/\.$/);
      expect(['stat', 'timeseries', 'bargauge']).toContain(type);
      expect(x + w).toBeLessThanOrEqual(24);
      for (let i = x; i < x + w; i++) {
        for (let j = y; j < y + h; j++) {
          expect(cells.has(`${i},${j}`)).toBe(false);
          cells.add(`${i},${j}`);
        }
      }
    }
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  it.skipIf(!hasPromtool)('asks in the language of Prometheus', () => {
    const rules = expressions.map((expr, i) =>
      ({ record: `panel:${i}`, expr: expr.replaceAll(/\$[a-z]+/g, '.*') }));
    const file = { groups: [{ name: 'panels', rules }] };
    expect(promtoolOn(['check', 'rules'], file)).toContain(`${rules.length} rules found`);
  });
});
