// Runs the simulation from its sources: npm run simulate -- --help
import { runBundled } from './run-bundled.js';

await runBundled('test/support/simulation/main.ts');
