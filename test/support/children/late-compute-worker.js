// A compute thread that answers and then tells the waiting thread so.
import { parentPort } from 'node:worker_threads';

parentPort.on('message', ({ id, input: answered }) => {
  parentPort.postMessage({ id, hasFailed: false });
  Atomics.store(answered, 0, 1);
  Atomics.notify(answered, 0);
});
