import { afterEach, describe, expect, it } from 'vitest';
import { signing } from '../../src/signing/node.js';
import { BodyMemory } from '../../server/checks/body-memory.js';
import type { BatchChecks, CheckedBatch } from '../../server/checks/contract.js';
import { inlineChecks } from '../../server/checks/inline.js';
import { checkThreadsFor, threadedChecks } from '../../server/checks/threads.js';
import { Sender } from '../support/check-stage.js';
import { server } from '../support/wire-samples.js';

const former = signing.createSigner(signing.generateSeed());
const errors: string[] = [];
const logger = {
  debug: () => undefined, info: () => undefined, warn: () => undefined,
  error: (_fields: object, text: string) => void errors.push(text),
};

let opened: BatchChecks[] = [];
afterEach(async () => {
  await Promise.all(opened.map((checks) => checks.close()));
  opened = [];
  errors.length = 0;
});

function start(threads: number, entry?: URL): BatchChecks {
  const checks = threadedChecks({
    threads, memory: new BodyMemory(), logger,
    serverKeys: [server.publicKey, former.publicKey], ...(entry !== undefined && { entry }),
  });
  opened.push(checks);
  return checks;
}

/** What a check said: the body's text, or null. */
const textOf = (checked: CheckedBatch | null): string | null =>
  (checked === null ? null : Buffer.from(checked.body).toString());

/** Checks all at once. @returns what was said, in the order in which it was said. */
function checkAll(
  checks: BatchChecks, batches: readonly (readonly [Sender, 'good' | 'forged', string])[],
): Promise<[Sender, string | null][]> {
  const said: [Sender, string | null][] = [];
  return new Promise((resolve) => {
    for (const [sender, kind, text] of batches) {
      const frame = kind === 'good' ? sender.batch(text) : sender.forged(text);
      checks.check(sender.signer, frame, (checked) => {
        said.push([sender, textOf(checked)]);
        if (checked !== null) {
          expect(checked.digest).toEqual(signing.sha512(Buffer.from(textOf(checked)!)));
        }
        checked?.release();
        if (said.length === batches.length) resolve(said);
      });
      // The frame's memory is the socket's: it changes at once.
      frame.body.fill(0);
    }
  });
}

const senders = (count: number) => Array.from({ length: count }, () => new Sender());
/** Batches of several senders in turn; every seventh is forged. */
const mixed = (from: readonly Sender[], count: number) =>
  Array.from({ length: count }, (_, i) =>
    [from[i % from.length]!, i % 7 === 3 ? 'forged' : 'good', `batch ${i}`] as const);

describe('checks on threads', () => {
  it('say of each batch what a check on this thread says, in the order of its sender', async () => {
    const from = senders(8);
    const batches = mixed(from, 700);
    const here = await checkAll(inlineChecks(new BodyMemory()), batches);
    const there = await checkAll(start(2), batches);
    for (const sender of from) {
      const of = (said: readonly [Sender, string | null][]) =>
        said.filter(([whose]) => whose === sender).map(([, text]) => text);
      expect(of(there)).toEqual(of(here));
    }
    expect(here.filter(([, text]) => text === null)).toHaveLength(100);
  });

  it('take a signature for an earlier key of the server, and for no other', async () => {
    const checks = start(1);
    const [sender] = senders(1) as [Sender];
    const said = (serverKey: Uint8Array) => new Promise((resolve) => {
      checks.check(sender.signer, sender.batch('one', serverKey), (checked) =>
        resolve(textOf(checked)));
    });
    expect(await said(former.publicKey)).toBe('one');
    expect(await said(sender.signer.verifier.publicKey)).toBeNull();
  });

  it('go on without a thread that ended, in order', async () => {
    const from = senders(3);
    const checks = start(1, new URL('../support/children/ending-check-worker.js', import.meta.url));
    // The thread answers the first list, gets the second and ends; the rest was not sent to it.
    const batches = mixed(from, 600);
    const said = await checkAll(checks, batches);
    const expected = batches.map(([sender, kind, text], i) =>
      [sender, i < 256 || kind === 'forged' ? null : text]);
    expect(said).toEqual(expected);
    expect(errors).toEqual([expect.stringContaining('a thread that checks signatures ended')]);
    const later = mixed(from, 4);
    expect((await checkAll(checks, later)).map(([, text]) => text))
      .toEqual(['batch 0', 'batch 1', 'batch 2', null]);
  });

  it('answer what is left when they are closed', async () => {
    const checks = start(1);
    const answered = checkAll(checks, mixed(senders(2), 300));
    await checks.close();
    expect(await answered).toHaveLength(300);
    expect(errors).toEqual([]);
  });
});

describe('the number of threads', () => {
  it('is one fewer than the cores, at most 4, and none on one core', () => {
    expect([1, 2, 3, 5, 64].map(checkThreadsFor)).toEqual([0, 1, 2, 4, 4]);
  });
});
