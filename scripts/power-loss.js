// Replays what a server wrote up to each sync, as if the power had failed there:
// npm run power-loss -- --help
import { runBundled } from './run-bundled.js';

await runBundled('test/support/durability/power-main.ts');
