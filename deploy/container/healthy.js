// Ends with status 0 if the aggregator of this container is well: node healthy.js [URL]
import { get } from 'node:http';

get(process.argv[2] ?? 'http://127.0.0.1:8787/healthz', ({ statusCode }) => {
  process.exit(statusCode === 200 ? 0 : 1);
}).on('error', () => process.exit(1));
