// Measures what every estimator promises, and writes docs/results/promises.md. Five minutes. Ends
// with status 1 where a row misses a limit that test/promises/table.ts does not say it misses.
// --tiny measures only the rows that `npm test` has.
import { runBundled } from './run-bundled.js';

await runBundled('test/promises/main.ts');
