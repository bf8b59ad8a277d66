import { availableParallelism } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { assert } from '../../src/base/assert.js';
import { createComputePool } from '../compute/pool.js';
import { niceness, standBack } from '../compute/priority.js';
import { InlineEpochRunner } from './inline-runner.js';
import { partsOfError, type EpochRequest, type EpochResponse } from './messages.js';
import { unpackBatches } from './packing.js';

/**
 * The thread that holds summaries and draws releases. Requests begin in the order sent, so parts
 * keep the journal's order. While a release waits for compute threads, rows of other epochs are
 * folded.
 */
assert(parentPort !== null, 'this module is the entry of a worker thread');
const port = parentPort;
standBack(niceness.folding);
/**
 * One core stays free for sockets, signatures and the store, so that acks do not wait for a
 * release.
 */
const computeThreads = Math.max(1, availableParallelism() - 1);
const runner =
  new InlineEpochRunner({ compute: createComputePool(computeThreads, niceness.passes) });
const send = (response: EpochResponse): void => port.postMessage(response);

async function execute(request: EpochRequest): Promise<unknown> {
  switch (request.kind) {
    case 'open': return runner.open(request.setup);
    case 'add': return runner.add(request.studyId, request.epoch, unpackBatches(request.parts));
    case 'progress': return runner.progress(request.studyId, request.epoch);
    case 'encode': return runner.encode(request.studyId, request.epoch);
    case 'merge': return runner.merge(request.studyId, request.epoch, request.encoded);
    case 'release': {
      const { studyId, epoch, before, known } = request;
      return runner.release(studyId, epoch, before, known);
    }
    case 'drop': return runner.drop(request.studyId, request.epoch);
  }
}

port.on('message', (request: EpochRequest) => {
  execute(request).then(
    (value) => send({ kind: 'value', id: request.id, value }),
    (error: unknown) => send({ kind: 'error', id: request.id, error: partsOfError(error) }),
  );
});
