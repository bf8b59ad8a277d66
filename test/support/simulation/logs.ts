import { encodeLogLine } from '../../../src/log/index.js';
import { decodeHeadBody } from '../../../src/wire/index.js';
import type { RunningHub } from '../../../server/studies/hub/hub.js';
import { BrokenPromise, type Model } from './model.js';
import { settled, type Scheduler } from './scheduler.js';

/** The chain of every study, as one that trusts the first key reads it. */
export async function verifyLogs(
  hub: RunningHub, model: Model, scheduler: Scheduler,
): Promise<void> {
  for (const { studyId, facts, factsSignature: signature } of hub.studies()) {
    const head = await answered(scheduler, hub.head(studyId));
    // Another may come meanwhile.
    const count = Number(decodeHeadBody(head.body).count);
    const releases =
      (await answered(scheduler, hub.releases(studyId, 0, 10_000))).slice(0, count);
    await model.mustVerify(studyId, [
      encodeLogLine({ type: 'study', facts, serverKey: hub.serverKey, signature }),
      ...hub.rotations.map((record) => encodeLogLine({ type: 'rotation', record })),
      ...releases.map((release) =>
        encodeLogLine({ type: 'release', body: release.body, signature: release.signature })),
      encodeLogLine({ type: 'head', ...head }),
    ]);
  }
}

/** Far more than a world without faults needs for one answer, in virtual milliseconds. */
const answerMs = 30_000;

/**
 * The world goes on until the store has answered.
 * @throws BrokenPromise when it does not: who was asked has died, and others would go on for ever.
 */
async function answered<T>(scheduler: Scheduler, asked: Promise<T>): Promise<T> {
  let isThere = false;
  const done = asked.finally(() => { isThere = true; });
  const endsMs = scheduler.nowMs + answerMs;
  for (await settled(); !isThere; await settled()) {
    if (scheduler.step() === null) break;
    if (scheduler.nowMs > endsMs) throw new BrokenPromise('a log is asked for and never comes');
  }
  return done;
}
