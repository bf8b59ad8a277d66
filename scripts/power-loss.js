// Replays what a server wrote up to every sync, as if the power had gone there:
// npm run power-loss -- --help
import { runBundled } from './run-bundled.js';

await runBundled('test/support/durability/power-main.ts');
