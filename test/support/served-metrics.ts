import { systemClock } from '../../server/base/clock.js';
import type { ProcessWatch } from '../../server/base/process-figures.js';
import { observeServer } from '../../server/metrics/observe-server.js';
import { createServerMetrics } from '../../server/metrics/server-metrics.js';
import type { LedgerBalance } from '../../server/store/contract.js';
import type { StoreHealth } from '../../server/store/health.js';
import type { NodeHealth } from '../../server/studies/node-health.js';
import { amountOf, zeroAmount } from '../../src/privacy/accounting/amount.js';
import { rhoForZcdp } from '../../src/privacy/accounting/conversion.js';
import { createFakeHub } from './fake-hub.js';
import { document } from './wire-samples.js';

export const storeHealth: StoreHealth = {
  commits: 412, batches: 31_240, retries: 0, commitSecondsMedian: 0.0031,
  commitSeconds99: 0.0184, commitSecondsTotal: 1.4, fileBytes: 4_096, walBytes: 0,
};

export const processWatch: ProcessWatch = {
  figures: () => ({
    cpuSeconds: 1, residentBytes: 2 ** 27, heapBytes: 2 ** 25, startSeconds: 1.7e9, openFiles: 40,
    nodeVersion: 'v20.19.0',
  }),
  loopDelaySeconds: () => 0.001,
  stop: () => {},
};

/** The budget of `document`, of epsilon 1, of which this share of rho is spent. */
export function balanceOf(spent: number): LedgerBalance {
  const rho = rhoForZcdp(1, 1e-6);
  return {
    key: `study:${document.study}`, scope: 'study', rule: { rule: 'zcdp' }, epsilon: 1, delta: 1e-6,
    rhoCap: amountOf(rho), deltaCap: amountOf(1e-7), rhoSpent: amountOf(spent * rho),
    deltaSpent: zeroAmount, rhoReserved: zeroAmount, deltaReserved: zeroAmount,
    pureCap: amountOf(1), pureSpent: null, pureReserved: zeroAmount,
  };
}

/**
 * What `/metrics` says of a server that just started, with one study.
 * @param node of a server on a shared store.
 */
export async function servedMetrics(node?: NodeHealth): Promise<string> {
  const fake = await createFakeHub([document]);
  const hub = node === undefined ? fake : Object.assign(fake, { node: () => node });
  hub.ledger.push(balanceOf(0.5));
  const { registry } = createServerMetrics(() => [document.study]);
  observeServer(registry, {
    hub, clock: systemClock, storeHealth: async () => storeHealth, process: processWatch,
    descriptors: 1_024, checkThreads: 0,
  });
  return registry.render();
}
