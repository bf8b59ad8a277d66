import { observeServer } from '../../dist/server/metrics/observe-server.js';
import { createServerMetrics } from '../../dist/server/metrics/server-metrics.js';
import { code, generated, page, plain, table } from './markdown.js';

/** A server without studies: the page only needs the names. */
const hub = {
  studies: () => [], refused: () => [], overloaded: () => false, progress: async () => null,
  balances: async () => [], onEvent: () => () => {},
};
const storeHealth = async () => ({
  commits: 0, commitSecondsMedian: 0, commitSeconds99: 0, commitSecondsTotal: 0, fileBytes: 0,
  walBytes: 0,
});
const process = { figures: () => ({ nodeVersion: '' }), loopDelaySeconds: () => 0 };

export async function metricsPage() {
  const { registry } = createServerMetrics();
  observeServer(registry, {
    hub, clock: { nowMs: () => 0 }, storeHealth, process, descriptors: 0, checkThreads: 0,
  });
  const text = await registry.render();
  const rows = [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)]
    .map(([, name, help, kind]) => [code(name), kind, plain(help)]);
  return page(
    generated,
    '# Metrics',
    '`GET /metrics` answers the operator in the Prometheus text format. It needs the operator\'s '
    + 'token, because exact participation is not public. "By study" means the labels `study` and '
    + '`id`; "by code" and "by reason" mean a label of that name. The '
    + 'counters of a study show 0 from the start.',
    table(['metric', 'type', 'what it says'], rows),
  );
}
