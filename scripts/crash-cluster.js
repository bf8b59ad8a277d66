// Lets several servers on one PostgreSQL fail under load, and checks that nothing is lost:
// npm run crash:cluster -- --help
import { runBundled } from './run-bundled.js';

await runBundled('test/support/durability/cluster-main.ts');
