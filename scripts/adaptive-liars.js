// Measures robust-mean against liars that know its rules, and writes the page that is named, which
// is docs/results/adaptive-liars.md. A minute. Ends with status 1 where an interval is false.
// --tiny tries each attack once.
import { runBundled } from './run-bundled.js';

await runBundled('test/promises/adaptive.ts');
