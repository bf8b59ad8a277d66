import { expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import { post } from '../support/upload-client.js';
import { newSigner } from '../support/wire-client.js';
import { startRig } from './harness.js';

it('a server without the role ingest sends contributors away, and serves readers', async () => {
  const rig = await startRig({ takesBatches: false });
  const client = await rig.open();
  await client.sendHello(newSigner(), rig.study);
  const refusal = await client.next('refusal');
  // Of no study and no key, so that the client connects again.
  expect(refusal).toMatchObject({ code: 'shutting-down', retryable: true, channel: 0 });
  expect([refusal.studyId, refusal.publicKey].map(({ length }) => length)).toEqual([0, 0]);
  expect(refusal.text).toContain('connect to another server');
  expect(await post(rig.listener.address, {}, undefined))
    .toMatchObject({ status: 503, code: 'shutting-down' });
  const ready = await fetch(rig.url('/readyz'));
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'takes-no-batches' }]);
  expect((await fetch(rig.url('/healthz'))).status).toBe(200);
  rig.hub.publish(rig.study);
  client.send({ kind: 'subscribe', studyId: fromHex(rig.study), fromRelease: 0n });
  expect((await client.next('release')).body.length).toBeGreaterThan(0);
});
