// Compares the answers of the stores in SQLite and PostgreSQL: npm run differential -- --help
import { runBundled } from './run-bundled.js';

await runBundled('test/support/differential/main.ts');
