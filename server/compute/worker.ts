import { parentPort, workerData } from 'node:worker_threads';
import { countShared } from '../../src/numerics/kernels/shared.js';
import { rowKernels } from '../../src/numerics/kernels/shards.js';
import { standBack } from './priority.js';

/** Entry of a compute thread: runs row kernels on shared rows, one call after the other. */
export interface ComputeCall {
  readonly id: number;
  readonly kernel: string;
  readonly input: unknown;
}

export interface ComputeReply {
  readonly id: number;
  readonly output?: unknown;
  /** The error itself is not sent, because its text could reveal rows. */
  readonly hasFailed: boolean;
}

/** The start options of a compute thread. */
export interface ComputeSetup {
  /** See `standBack`; 0: normal priority. */
  readonly niceness: number;
}

const port = parentPort!;
const { niceness } = workerData as ComputeSetup;
if (niceness > 0) standBack(niceness);

port.on('message', ({ id, kernel, input }: ComputeCall) => {
  countShared(input);
  let reply: ComputeReply;
  try {
    reply = { id, output: rowKernels[kernel]!(input), hasFailed: false };
  } catch {
    reply = { id, hasFailed: true };
  }
  port.postMessage(reply);
});
