import { backupStore } from '../../server/store/sqlite/backup.js';
import { openSqliteReader } from '../../server/store/sqlite/reader.js';
import { defineCommand } from '../base/command.js';

export const backup = defineCommand({
  name: 'backup',
  summary: 'Copy the store of a data folder, beside a running aggregator.',
  details: [
    'The copy is the state after one commit: every batch acknowledged before it began is in it. It holds the rows that '
    + 'the store holds, and outlives their retention: delete copies when rows must be gone. Keys and the operator\'s '
    + 'token are not in it; keep those once, apart from it.',
    'A restored copy is older than the truth: read docs/operating/operations.md before serving from it, or privacy may be spent twice.',
  ],
  args: {
    directory: { type: 'positional', required: true, description: 'data folder of "keelson serve"' },
    target: { type: 'positional', required: true, description: 'folder for the copy; made when absent' },
  },
  examples: ['keelson backup data copies/2026-11-21'],
  async run({ args, output }) {
    const copy = backupStore(args.directory, args.target);
    const store = await openSqliteReader(args.target);
    try {
      const studies = (await store.studies()).map(({ studyId, name, releaseCount }) => ({ study: name, studyId, releases: releaseCount }));
      output.json({ ...copy, studies });
      output.text(`wrote ${copy.file} (${copy.bytes} bytes)`);
      for (const { study, releases } of studies) output.text(`${study}: ${releases} releases`);
      return 0;
    } finally {
      await store.close();
    }
  },
});
