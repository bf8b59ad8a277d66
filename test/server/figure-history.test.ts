import { expect, it } from 'vitest';
import { FigureHistory } from '../../server/metrics/figure-history.js';
import { createServerMetrics } from '../../server/metrics/server-metrics.js';
import { settle, VirtualClock } from '../support/virtual-clock.js';

it('has a sample of each ten seconds for two hours, also while the store is away', async () => {
  const clock = new VirtualClock();
  const metrics = createServerMetrics();
  const history = new FigureHistory(clock, metrics, () => Promise.reject(new Error('away')));
  metrics.accepted.add(30, { study: 'a' });
  metrics.refused.add(2, { study: 'a', code: 'mutated' });
  for (let i = 0; i < 99; i++) metrics.ackSeconds.observe(0.002);
  metrics.ackSeconds.observe(0.3);
  await clock.advance(10_000);
  await settle();
  await clock.advance(10_000);
  await settle();
  expect(history.samples).toMatchObject([
    {
      seconds: 10, accepted: 30, refused: 2, ackMedian: 0.0025, ack99: 0.0025, commit99: null,
      storeBytes: null,
    },
    { accepted: 0, ackMedian: null, ack99: null },
  ]);
  for (let i = 0; i < 10; i++) metrics.ackSeconds.observe(60);
  for (let i = 0; i < 900; i++) {
    await clock.advance(10_000);
    await settle();
  }
  expect(history.samples).toHaveLength(720);
  history.stop();
  await clock.advance(60_000);
  expect(history.samples).toHaveLength(720);
});
