// Kills a server under load many times, and checks that it keeps what it acknowledged:
// npm run crash -- --help
import { runBundled } from './run-bundled.js';

await runBundled('test/support/durability/kill-main.ts');
