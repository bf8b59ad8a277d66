// A thread that checks signatures, and ends when it gets its second list.
import { parentPort } from 'node:worker_threads';

let lists = 0;
parentPort.on('message', ({ id, places }) => {
  lists += 1;
  if (lists === 2) process.exit(1);
  // It takes no signature for valid: what it answered is not checked again.
  const count = places.length / 3;
  parentPort.postMessage({
    id, valid: new Uint8Array(count), digests: new Uint8Array(64 * count),
  });
});
