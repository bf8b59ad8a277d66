// @module-tag slow
import { afterAll, expect, it } from 'vitest';
import { retryableWireCodes } from '../../src/base/error-codes.js';
import type { Signer } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { studyId } from '../../src/wire/index.js';
import { Stage, type Served } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';
import { newSigner, WireClient, WireContributor } from '../support/wire-client.js';

const stage = new Stage();
afterAll(() => stage.end());

const most = 20;
const sockets = 4;
const rated = (facts = {}): string => meanStudy('rated', {
  participation: 'public', admission: `{ rate: { contributorKeys: ${most}, per: 366d } }`, ...facts,
});

/** `in`: the key is known to the study now. `full`: it may not come in now. `later`: try again. */
type Answer = 'in' | 'full' | 'later';

/** Sends one row. The newest version of a study is the first in Welcome. */
async function send(client: WireClient, signer: Signer): Promise<Answer> {
  const welcome = client.frames.find((frame) => frame.kind === 'welcome')
    ?? await client.next('welcome');
  const id = await studyId(welcome.studies[0]!.facts, signing);
  const contributor = await WireContributor.open(client, id, signer);
  const { accepted, rejections } = await contributor.send(contributor.ready.nextSequence);
  if (accepted.length > 0) return 'in';
  const { code } = rejections[0]!;
  if (code === 'too-many-new-keys') return 'full';
  return retryableWireCodes.has(code) ? 'later' : 'in';
}

/**
 * Every key tries until it has an answer, over several sockets at once. A key of a lost connection
 * has none.
 */
async function race(
  served: Served, keys: readonly Signer[], onAnswer = (): void => undefined,
): Promise<Map<Signer, Answer>> {
  const answers = new Map<Signer, Answer>();
  const worker = async (mine: readonly Signer[]): Promise<void> => {
    const client = await WireClient.open(served.port);
    for (const signer of mine) {
      let answer: Answer = 'later';
      while (answer === 'later') answer = await send(client, signer);
      answers.set(signer, answer);
      onAnswer();
    }
    client.close();
  };
  const shares =
    Array.from({ length: sockets }, (_, i) => keys.filter((_key, at) => at % sockets === i));
  await Promise.all(shares.map((share) => worker(share).catch(() => undefined)));
  return answers;
}

it('a rate holds over many sockets, a kill, epochs that close and a reload', async () => {
  const file = stage.write('rated.yaml', rated());
  const keys = Array.from({ length: 3 * most }, newSigner);
  const known = new Set<Signer>();
  const note = (answers: Map<Signer, Answer>): void => {
    for (const [signer, answer] of answers) if (answer === 'in') known.add(signer);
  };
  const first = await stage.serve([file]);
  let seen = 0;
  note(await race(first, keys, () => { if (++seen === 6) void first.command.kill(); }));
  await first.command.ended;
  expect(known.size).toBeGreaterThan(0);
  const second = await stage.serve([file], { logLevel: 'info' });
  stage.write('rated.yaml', rated({ cohort: '250' }));
  seen = 0;
  note(await race(second, keys.toReversed(), () => {
    if (++seen === 6) second.command.child.kill('SIGHUP');
  }));
  await second.command.says('the study files were read again');
  // Every key once more: those that were taken always are, and the others still are not.
  const last = await race(second, keys);
  expect(last.size).toBe(keys.length);
  expect([...last.values()].filter((answer) => answer === 'in')).toHaveLength(most);
  for (const signer of known) expect(last.get(signer)).toBe('in');
});
