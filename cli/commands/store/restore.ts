import { join } from 'node:path';
import { isSecretThere } from '../../../server/base/secret-files.js';
import { backupStore } from '../../../server/store/sqlite/backup.js';
import { defineCommand } from '../../base/command.js';

/** The files that a server needs besides the restored database, and the purpose of each. */
const besides = {
  'server.key': 'the key that signed the releases',
  'operator.token': 'the operator\'s token',
  'keelson.mark': 'the newest mark, which knows what was charged after the copy',
} as const;

export const restore = defineCommand({
  name: 'store restore',
  summary: 'Put a copy of "keelson store backup" into a data folder.',
  details: [
    'The folder must have no database: move a damaged one away first, with its -wal file. Keys and '
    + 'the mark that are in the folder stay. The command says which of them are missing; a start '
    + 'without the mark cannot know what was charged after the copy.',
    'A restored database is older than the truth, so the first start needs "keelson serve '
    + '--accept-rollback". Read docs/operating/operations.md before, or privacy may be spent '
    + 'twice.',
  ],
  args: {
    copy: {
      type: 'positional', required: true, description: 'folder that "keelson store backup" wrote',
    },
    directory: {
      type: 'positional', required: true, description: 'the data folder; made when absent',
    },
  },
  examples: ['keelson store restore copies/2026-11-21 data'],
  async run({ args: { copy, directory }, output }) {
    const restored = backupStore(copy, directory);
    const missing = Object.entries(besides)
      .filter(([name]) => !isSecretThere(join(directory, name)));
    output.json({ ...restored, missing: missing.map(([name]) => name) });
    output.text(`wrote ${restored.file} (${restored.bytes} bytes)`);
    for (const [name, use] of missing) {
      output.text(`missing      ${join(directory, name)}: ${use}`);
    }
    output.text('start once with "keelson serve --accept-rollback"');
    return 0;
  },
});
