// usage: node late-pool.js
// Closes a compute pool whose thread has answered, before the answer was received. Prints "closed"
// when close() resolves.
import { createComputePool } from '../../../dist/server/compute/pool.js';

const answered = new Int32Array(new SharedArrayBuffer(4));
const pool = createComputePool(1, 0, new URL('./late-compute-worker.js', import.meta.url));
pool.run('any', answered).then(() => console.log('answered'), () => console.log('rejected'));
// This thread receives nothing while it waits, so the answer is still under way when the pool is
// closed.
Atomics.wait(answered, 0, 0);
await pool.close();
console.log('closed');
