import { afterEach, expect, it } from 'vitest';
import { createContributor } from '../../client/index.js';
import { MeddlingProxy } from '../../cli/conform/meddling-proxy.js';
import { signing } from '../../src/signing/node.js';
import { eventually, startRig } from '../listener/harness.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

it('sends each row once while servers with and without encrypted channels take turns', async () => {
  const rig = await startRig();
  const proxy = await MeddlingProxy.to(rig.listener.port);
  const contributor = createContributor({
    url: proxy.url, study: 'flight-delays', seed: signing.generateSeed(), backoffInitialMs: 2,
    backoffMaxMs: 10,
  });
  ends.push(() => contributor.abort(), () => proxy.close());
  const sent: Promise<unknown>[] = [];
  for (let turn = 0; turn < 6; turn++) {
    // As in front of a server of an earlier version: it takes the other subprotocol.
    proxy.offers = turn % 2 === 0 ? (names) => names : () => ['keelson.v1'];
    proxy.cut();
    await contributor.send([[turn, 0]]);
    // One batch has arrived, and its ack is lost with the socket: it comes again in the other form.
    const arrived = rig.metrics.batches.total();
    proxy.meddle = (way, message) => (way === 'up' ? [message] : []);
    sent.push(contributor.send([[turn, 1]]));
    await eventually(() => rig.metrics.batches.total() > arrived);
    proxy.meddle = (_way, message) => [message];
  }
  proxy.cut();
  await Promise.all(sent);
  const counted = new Map(rig.hub.submitted.map(({ sequence, values }) => [sequence, values!]));
  expect([...counted.values()].map((values) => Array.from(values)))
    .toEqual([...Array(12).keys()].map((i) => [Math.floor(i / 2), i % 2]));
  expect(rig.metrics.accepted.total({ study: 'flight-delays' })).toBe(12);
  expect(rig.metrics.duplicates.total({ study: 'flight-delays' })).toBe(6);
  for (const form of ['signed', 'encrypted']) {
    expect(rig.metrics.batches.total({ form }), form).toBeGreaterThanOrEqual(6);
  }
});
