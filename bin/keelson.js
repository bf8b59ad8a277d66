#!/usr/bin/env node
import { existsSync } from 'node:fs';

const build = new URL('../dist/bundle/cli/main.js', import.meta.url);
if (!existsSync(build)) {
  const remedy = 'run "npm install" (or "npm run build") in its folder first';
  process.stderr.write(`keelson is not built yet: ${remedy}\n`);
  process.exit(2);
}
await import(build.href);
