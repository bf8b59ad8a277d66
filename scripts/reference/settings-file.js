import { settingsSchema } from '../../dist/server/study-file/settings-schema.js';
import { keysOf } from './facets.js';
import { generated, page } from './markdown.js';
import { exampleOf, keyBlock } from './study-file.js';

export function settingsFilePage() {
  return page(
    generated,
    '# The settings file',
    'What an operator sets once for a server stands in a YAML file, which `keelson serve` takes '
    + 'with `--settings`. Every key may be left out. Keys that it does not know are refused. The '
    + 'commands `keelson store` and `keelson ledger` take the same file for its `store.schema`.',
    'The file is read at the start. SIGHUP does not read it again. Paths in it are relative to its '
    + 'folder.',
    'Every key with an example:',
    `\`\`\`yaml settings\n${exampleOf(settingsSchema)}\n\`\`\``,
    '## Keys',
    ...keysOf(settingsSchema).map(keyBlock),
  );
}
