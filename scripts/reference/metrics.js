import { createMetricRegistry } from '../../dist/server/metrics/metrics.js';
import { createServerMetrics, observeServer } from '../../dist/server/metrics/server-metrics.js';
import { code, generated, page, plain, table } from './markdown.js';

/** A server without studies: the page only needs the names. */
const noStudies = {
  studies: () => [], refused: () => [], overloaded: () => false, progress: async () => null,
};
const noHealth = async () =>
  ({ commitSecondsMedian: 0, commitSeconds99: 0, fileBytes: 0, walBytes: 0 });

export async function metricsPage() {
  const registry = createMetricRegistry();
  createServerMetrics(registry);
  observeServer(registry, noStudies, noHealth);
  const text = await registry.render();
  const rows = [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)]
    .map(([, name, help, kind]) => [code(name), kind, plain(help)]);
  return page(
    generated,
    '# Metrics',
    '`GET /metrics` answers the operator in the Prometheus text format. It needs the operator\'s '
    + 'token, because exact participation is not public. "By study" means the labels `study` and '
    + '`id`; "by code" and "by reason" mean a label of that name. A counter has no series before '
    + 'it first counts.',
    table(['metric', 'type', 'what it says'], rows),
  );
}
