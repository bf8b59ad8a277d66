// Writes the generated reference pages and the JSON Schema of study files, from what was built:
//   node scripts/reference.js [FOLDER]
// FOLDER is docs/reference where none is given. The build calls this, so the pages are not tracked.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandsPage } from './reference/commands.js';
import { errorCodesPage } from './reference/error-codes.js';
import { estimatorsPage } from './reference/estimators.js';
import { metricsPage } from './reference/metrics.js';
import { settingsFilePage } from './reference/settings-file.js';
import { studySchemaForEditors } from './reference/study-schema.js';
import { studyFilePage } from './reference/study-file.js';

const folder = process.argv[2] ?? fileURLToPath(new URL('../docs/reference', import.meta.url));
mkdirSync(folder, { recursive: true });
const files = {
  'commands.md': await commandsPage(),
  'error-codes.md': errorCodesPage(),
  'estimators.md': estimatorsPage(),
  'metrics.md': await metricsPage(),
  'settings-file.md': settingsFilePage(),
  'study-file.md': studyFilePage(),
  'study-file.schema.json': `${JSON.stringify(studySchemaForEditors())}\n`,
};
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
