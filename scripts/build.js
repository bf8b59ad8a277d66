// Builds the library, the server, the client and the command into dist/.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'], { cwd: root, stdio: 'inherit' });
// The generated wire code is JavaScript with its own declarations: tsc does not copy it.
mkdirSync(`${root}dist/src/wire/generated`, { recursive: true });
cpSync(`${root}src/wire/generated`, `${root}dist/src/wire/generated`, { recursive: true });
