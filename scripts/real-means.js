// Measures robust-mean over public tables, and writes the page that is named, which is
// docs/results/real-means.md. A minute. Ends with status 1 where a table is not answered as it must
// be. --tiny releases once over each table.
import { runBundled } from './run-bundled.js';
import { useTool } from './tool.js';

useTool('datasets');
await runBundled('test/promises/real.ts');
