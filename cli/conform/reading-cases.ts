import { signing } from '#signing';
import { toHex } from '../../src/base/bytes.js';
import { expect } from './fault.js';
import type { ShortRelease } from './samples.js';
import type { ScriptedServer } from './scripted-server.js';
import type { ConformanceCase, Stage } from './stage.js';

const reading = (name: string, run: (stage: Stage) => Promise<void>): ConformanceCase =>
  ({ name, needs: 'subscribe', run });

/** @param start members of `subscribe` that state where to begin. */
async function subscribe(
  stage: Stage, server: ScriptedServer,
  start: { readonly from?: number; readonly previousDigest?: string } = {},
): Promise<void> {
  (await stage.program()).say({
    do: 'subscribe', url: server.url, study: server.document.study,
    serverKey: toHex(server.signer.publicKey), ...start,
  });
}

/** The next release that the program reports must be this one. */
async function released(stage: Stage, server: ScriptedServer, index: number): Promise<void> {
  const one = await stage.event(({ event }) => event === 'release' || event === 'ended');
  expect(one.event === 'release', `it ended with ${one.code}, and nothing was wrong`);
  expect(one['index'] === index, `release ${String(one['index'])} was reported, ${index} is next`);
  const digest = toHex(signing.sha512(server.releases[index]!.body));
  expect(one['digest'] === digest, `the digest of release ${index} is another one`);
}

async function inOrder(stage: Stage): Promise<void> {
  const server = await stage.server();
  for (let i = 0; i < 2; i++) server.publish();
  await subscribe(stage, server);
  for (const index of [0, 1]) await released(stage, server, index);
  server.publish();
  await released(stage, server, 2);
  await stage.close();
}

async function fromLater(stage: Stage): Promise<void> {
  const server = await stage.server();
  for (let i = 0; i < 3; i++) server.publish();
  const previousDigest = toHex(signing.sha512(server.releases[1]!.body));
  await subscribe(stage, server, { from: 2, previousDigest });
  await released(stage, server, 2);
  expect(server.subscriptions[0] === 2n, `Subscribe asked for release ${server.subscriptions[0]}`);
  await server.crash();
  server.publish();
  await server.listen();
  await released(stage, server, 3);
  await stage.close();
}

async function fromAnother(stage: Stage): Promise<void> {
  const server = await stage.server();
  for (let i = 0; i < 3; i++) server.publish();
  const previousDigest = toHex(signing.sha512(server.releases[0]!.body));
  await subscribe(stage, server, { from: 2, previousDigest });
  await stage.ended('log-invalid');
}

async function skipped(stage: Stage): Promise<void> {
  const server = await stage.server();
  for (let i = 0; i < 3; i++) server.publish();
  server.skipOnce = true;
  await subscribe(stage, server);
  for (const index of [0, 1, 2]) await released(stage, server, index);
  await stage.close();
}

async function cut(stage: Stage): Promise<void> {
  const server = await stage.server();
  server.publish();
  await subscribe(stage, server);
  await released(stage, server, 0);
  await server.crash();
  server.publish();
  await server.listen();
  await released(stage, server, 1);
  await stage.close();
}

interface Forgery {
  readonly change?: Partial<ShortRelease>;
  readonly previous?: Uint8Array;
  /** Signs the release in place of the server. */
  readonly byAnother?: true;
}

/** The release after a good one is forged. */
async function forged(
  stage: Stage, { change = {}, previous, byAnother }: Forgery,
): Promise<void> {
  const server = await stage.server();
  server.publish();
  await subscribe(stage, server);
  await released(stage, server, 0);
  const own = server.signer;
  if (byAnother) server.signer = signing.createSigner(signing.generateSeed());
  server.publish(previous, change);
  server.signer = own;
  const { event, code } = await stage.event((one) =>
    one.event === 'release' || one.event === 'ended');
  expect(event === 'ended', 'a forged release was reported as verified');
  expect(code === 'log-invalid', `it ended with ${code}, not log-invalid`);
}

async function shortened(stage: Stage): Promise<void> {
  const server = await stage.server();
  for (let i = 0; i < 2; i++) server.publish();
  await subscribe(stage, server);
  for (const index of [0, 1]) await released(stage, server, index);
  await server.crash();
  server.releases.pop();
  await server.listen();
  await stage.ended('log-invalid');
}

const forgeries: Readonly<Record<string, Forgery>> = {
  'signed by another key': { byAnother: true },
  'that does not continue the one before': { previous: new Uint8Array(64).fill(7) },
  'of another study': { change: { studyId: new Uint8Array(32).fill(7) } },
  'with another estimator than the facts': { change: { estimator: 'mean' } },
  'with other parameters than the facts': { change: { parameters: '{"spread":[1,1]}' } },
  'with another cohort than the facts': { change: { cohort: 17n } },
  'with an index that leaves a gap': { change: { index: 2n } },
  'with the epoch of the one before': { change: { epoch: 7n } },
};

/** Cases of a subscriber: the releases that it reports, and those that it refuses. */
export const readingCases: readonly ConformanceCase[] = [
  reading('releases in order, stored and new ones', inOrder),
  reading('releases from a later index', fromLater),
  reading('a later index after another release', fromAnother),
  reading('releases that the server left out', skipped),
  reading('cut between two releases', cut),
  ...Object.entries(forgeries).map(([what, forgery]) =>
    reading(`a release ${what}`, (stage) => forged(stage, forgery))),
  reading('a log that became shorter', shortened),
];
