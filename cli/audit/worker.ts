import { parentPort, workerData } from 'node:worker_threads';
import { TrialRunner, type TrialRequest } from '../../src/audit/index.js';
import { seededNoise } from '../../src/random/insecure.js';
import { secureNoise } from '../../src/random/secure.js';
import type { NoiseSource } from '../../src/random/source.js';
import { planOf, type AuditSubject } from './subject.js';

/** Entry of an audit's worker thread: plans once, then runs the trials that it is sent. */
export interface WorkerStart {
  readonly subject: AuditSubject;
  /** Prefix of the seeds of repeatable noise; null for noise from the operating system. */
  readonly seed: string | null;
}

export interface WorkerCall {
  readonly id: number;
  readonly request: TrialRequest;
}

const { subject, seed } = workerData as WorkerStart;
const runner = new TrialRunner({ plan: planOf(subject), dimension: subject.facts.dimension });
const fresh = secureNoise();
const noiseOf = (label: string): NoiseSource => (seed === null ? fresh : seededNoise(`${seed}:noise:${label}`));
const port = parentPort!;

port.on('message', ({ id, request }: WorkerCall) => {
  runner.run(request, noiseOf(request.label)).then(
    (block) => port.postMessage({ id, block }, [block.values.buffer as ArrayBuffer]),
    // Thrown here, the error ends the thread and reaches the pool with its message.
    (error: unknown) => queueMicrotask(() => {
      throw error;
    }),
  );
});
