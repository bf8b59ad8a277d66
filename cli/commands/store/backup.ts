import { backupStore } from '../../../server/store/sqlite/backup.js';
import { openSqliteReader } from '../../../server/store/sqlite/reader.js';
import { defineCommand } from '../../base/command.js';

export const backup = defineCommand({
  name: 'store backup',
  summary: 'Copy the store of a data folder, beside a running aggregator.',
  details: [
    'The copy is the state after one commit. It has every batch that was acknowledged before the '
    + 'copy began. It also has the rows that the store holds, and keeps them after their retention '
    + 'time: delete copies when rows must be gone. It has neither keys nor the operator\'s token; '
    + 'keep a copy of those elsewhere.',
    'A restored copy lacks what happened after it was made. Read docs/operating/operations.md '
    + 'before you serve from it, or privacy may be spent twice.',
  ],
  args: {
    directory: {
      type: 'positional', required: true, description: 'data folder of "keelson serve"',
    },
    target: {
      type: 'positional', required: true, description: 'folder for the copy; made when absent',
    },
  },
  examples: ['keelson store backup data copies/2026-11-21'],
  async run({ args, output }) {
    const copy = backupStore(args.directory, args.target);
    const store = await openSqliteReader(args.target);
    try {
      const studies = (await store.studies()).map(
        ({ studyId, name, releaseCount }) => ({ study: name, studyId, releases: releaseCount }),
      );
      output.json({ ...copy, studies });
      output.text(`wrote ${copy.file} (${copy.bytes} bytes)`);
      for (const { study, releases } of studies) output.text(`${study}: ${releases} releases`);
      return 0;
    } finally {
      await store.close();
    }
  },
});
