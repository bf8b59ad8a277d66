import { parentPort, workerData } from 'node:worker_threads';
import {
  TrialRunner, type LossRequest, type NeighbourPair, type TrialRequest,
} from '../../src/audit/index.js';
import { seededNoise } from '../../src/random/insecure.js';
import { secureNoise } from '../../src/random/secure.js';
import type { NoiseSource } from '../../src/random/source.js';
import { planOf, type AuditSubject } from './subject.js';

/** Starts an audit's worker thread. It plans once, then runs the trials that it receives. */
export interface WorkerStart {
  readonly subject: AuditSubject;
  /** Prefix of the seeds of repeatable noise; null for noise from the operating system. */
  readonly seed: string | null;
}

export interface WorkerCall {
  readonly id: number;
  readonly request: Omit<TrialRequest, 'pair'> | Omit<LossRequest, 'pair'>;
  readonly pair: string;
  /** The data sets of the pair. Sent only with its first request. */
  readonly data?: NeighbourPair;
}

const { subject, seed } = workerData as WorkerStart;
const { alone } = subject;
const runner = new TrialRunner({
  plan: planOf(subject),
  dimension: subject.facts.dimension,
  ...(alone === undefined
    ? {} : { alone: { events: new Set(alone), noise: () => seededNoise('answers given') } }),
});
const pairs = new Map<string, NeighbourPair>();
const fresh = secureNoise();
const noiseOf = (label: string): NoiseSource =>
  (seed === null ? fresh : seededNoise(`${seed}:noise:${label}`));
const port = parentPort!;

port.on('message', ({ id, request, pair: name, data }: WorkerCall) => {
  if (data !== undefined) pairs.set(name, data);
  const asked = { ...request, pair: pairs.get(name)! };
  const noise = noiseOf(request.label);
  const work = 'multiples' in asked ? runner.losses(asked, noise) : runner.run(asked, noise);
  work.then(
    (block) => port.postMessage(
      { id, block }, block === null ? [] : [block.values.buffer as ArrayBuffer],
    ),
    // Thrown here, the error ends the thread, and the pool gets its message.
    (error: unknown) => queueMicrotask(() => {
      throw error;
    }),
  );
});
