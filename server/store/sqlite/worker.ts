import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../../src/base/assert.js';
import { systemClock } from '../../base/clock.js';
import { openEngine, type Engine } from './engine.js';
import { asStoreError, errorToMessage } from './failures.js';
import { unpackList, type Request, type Response } from './messages.js';

/**
 * The thread that owns the data folder. Requests run one after the other, in the order they were
 * sent. Each is durable before it is answered.
 */
assert(parentPort !== null, 'this module is the entry of a worker thread');
const port = parentPort;
const send = (response: Response, transfer: ArrayBuffer[] = []): void =>
  port.postMessage(response, transfer);

function execute(engine: Engine, request: Request): void {
  try {
    if (request.kind === 'admit') {
      const { bytes } = request.list;
      send({
        kind: 'admitted', id: request.id, results: engine.admit(unpackList(request.list)), bytes,
      }, [bytes]);
      return;
    }
    // The facade has the types of both sides. Here only the method's name arrives.
    const methods =
      engine as unknown as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;
    const value = methods[request.method]!(...request.args);
    send({ kind: 'value', id: request.id, value }, request.method === 'journal'
      ? bodiesOf(value) : []);
    if (request.method === 'close') port.close();
  } catch (error) {
    send({ kind: 'error', id: request.id, error: errorToMessage(asStoreError(error)) });
  }
}

/** Buffers that hold one journal entry only, so they can be transferred instead of copied. */
function bodiesOf(value: unknown): ArrayBuffer[] {
  return (value as readonly { readonly body: Uint8Array }[]).map((entry) => entry.body)
    .filter((body) => body.byteLength > 0 && body.byteLength === body.buffer.byteLength)
    .map((body) => body.buffer as ArrayBuffer);
}

try {
  interface Start { readonly directory: string; readonly acceptRollback: boolean }
  const { directory, acceptRollback } = workerData as Start;
  const engine = openEngine(directory, systemClock, acceptRollback);
  port.on('message', (request: Request) => execute(engine, request));
  send({ kind: 'opened' });
} catch (error) {
  send({ kind: 'refused', error: errorToMessage(asStoreError(error)) });
}
