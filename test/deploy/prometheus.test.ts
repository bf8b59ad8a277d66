import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import type { ListenerOptions } from '../../server/listener/index.js';
import { operatorToken, startRig, type Rig } from '../listener/harness.js';
import { hasPromtool, promtool, promtoolOn, scraped } from '../support/promtool.js';
import { balanceOf, servedMetrics, storeHealth } from '../support/served-metrics.js';
import { root } from '../support/sources.js';
import { document } from '../support/wire-samples.js';

const rulesFile = `${root}deploy/prometheus/keelson.rules.yml`;
const rules = parse(readFileSync(rulesFile, 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly {
    readonly alert?: string; readonly record?: string; readonly expr: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  }[]; }[];
};
const all = rules.groups.flatMap((group) => group.rules);
const alerts = all.filter(({ alert }) => alert !== undefined);

/** How a test brings an alert about, in a server that listens. */
interface Cause {
  readonly options?: Partial<ListenerOptions>;
  inject(rig: Rig): unknown;
}

const everySecond = { everyMs: 1000 };
const causes: Readonly<Record<string, Cause>> = {
  KeelsonStudyLeftOut: {
    inject: ({ hub }) => Object.assign(hub, { refused: () => [{ study: 'broken' }] }),
  },
  // The sample clock of promtool starts at 0, so an old release is one of 1970.
  KeelsonNoRelease: {
    inject({ hub, study }) {
      hub.change(study, { document: { ...document, epoch: everySecond } });
      hub.publish(study, '', { closedAtMs: 0n });
    },
  },
  KeelsonEpochLate: {
    inject: ({ hub, study }) => hub.change(study, { closesAtMs: Date.now() - 90_000 }),
  },
  KeelsonAnswerRefused: { inject: ({ hub, study }) => hub.publish(study, 'nobody came') },
  KeelsonBudgetNearlySpent: { inject: ({ hub }) => void hub.ledger.push(balanceOf(0.9)) },
  KeelsonBudgetSpent: {
    inject({ hub, study }) {
      hub.ledger.push(balanceOf(1));
      hub.change(study, { state: 'exhausted', epoch: 0n, closesAtMs: 0 });
    },
  },
  KeelsonStoreFull: { inject: ({ hub }) => Object.assign(hub, { storeFull: () => true }) },
  KeelsonOverloaded: { inject: ({ hub }) => Object.assign(hub, { overload: true }) },
  KeelsonManyRefused: {
    async inject(rig) {
      const sender = await rig.contributor();
      sender.client.send({ ...sender.batch(1n), channel: 5 });
      await sender.refusal();
    },
  },
  KeelsonSlowAcks: { inject: ({ metrics }) => metrics.ackSeconds.observe(4) },
  KeelsonSlowDisk: {
    options: { storeHealth: async () => ({ ...storeHealth, commitSeconds99: 0.8 }) },
    inject: () => {},
  },
  KeelsonFewDescriptors: { options: { descriptors: 8 }, inject: () => {} },
};

async function scrape(rig: Rig): Promise<Map<string, number>> {
  const headers = { Authorization: `Bearer ${operatorToken}` };
  const page = await (await fetch(rig.url('/metrics'), { headers })).text();
  return new Map(scraped(page).map(({ series, value }) => [series, value]));
}

/** Counters go on growing as they did between both scrapes; gauges keep what the second says. */
function seriesOf(before: Map<string, number>, after: Map<string, number>): object[] {
  return [...after].map(([series, value]) => {
    const isCounter = /_(total|count|sum|bucket)\{/.test(series);
    const was = before.get(series) ?? value;
    return { series, values: isCounter ? `${was}+${value - was}x60` : `${value}+0x60` };
  });
}

/** A failure of promtool names the alert. */
function alertTest(name: string, series: readonly object[], isExpected: boolean): object {
  return {
    interval: '1m', input_series: series,
    promql_expr_test: [{
      expr: `count(ALERTS{alertname="${name}",alertstate="firing"}) > 0 or vector(0)`,
      eval_time: '30m', exp_samples: [{ labels: '{}', value: isExpected ? 1 : 0 }],
    }],
  };
}

function runRules(tests: readonly object[]): void {
  promtoolOn(['test', 'rules'], { rule_files: [rulesFile], evaluation_interval: '1m', tests });
}

describe.skipIf(!hasPromtool)('the rules for Prometheus', () => {
  it('pass promtool, as the example of a configuration does', () => {
    expect(promtool(['check', 'rules', rulesFile])).toContain(`${all.length} rules found`);
    promtool(['check', 'config', '--syntax-only', `${root}deploy/prometheus/prometheus.yml`]);
  });

  it('has a page of metrics that promtool has nothing against', async () => {
    expect(promtool(['check', 'metrics'], await servedMetrics())).toBe('');
  });

  it('says of every alert what happened and what to do', () => {
    for (const { labels, annotations } of alerts) {
      expect(labels?.severity).toMatch(/^(page|warn)$/);
      for (const text of [annotations?.summary, annotations?.remedy]) expect(text).toMatch(/\.$/);
    }
  });

  it('raise every alert on its cause, and none before', { tags: ['slow'] }, async () => {
    const tests = await Promise.all(Object.entries(causes).map(async ([name, cause]) => {
      const rig = await startRig({ storeHealth: async () => storeHealth, ...cause.options });
      const before = await scrape(rig);
      await cause.inject(rig);
      return alertTest(name, seriesOf(before, await scrape(rig)), true);
    }));
    const quiet = await startRig({ storeHealth: async () => storeHealth });
    const calm = seriesOf(await scrape(quiet), await scrape(quiet));
    runRules([...tests, ...Object.keys(causes).map((name) => alertTest(name, calm, false))]);
  });

  it('raise KeelsonDown where nothing answers', () => {
    const up = (value: number): object[] =>
      [{ series: 'up{job="keelson",instance="host:8787"}', values: `${value}+0x60` }];
    runRules([alertTest('KeelsonDown', up(1), false), alertTest('KeelsonDown', up(0), true)]);
  });

  it('has a cause here for every alert', () => {
    expect([...Object.keys(causes), 'KeelsonDown'].sort())
      .toEqual(alerts.map(({ alert }) => alert!).sort());
  });
});
