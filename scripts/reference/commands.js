import { commandTable, overview } from '../../dist/cli/commands/table.js';
import { commandHelp, overviewHelp } from '../../dist/cli/base/help.js';
import { generated, page } from './markdown.js';

const block = (text) => `\`\`\`text\n${text.trimEnd()}\n\`\`\``;

export async function commandsPage() {
  const entries = Object.entries(commandTable);
  const sections = await Promise.all(entries.map(async ([name, entry]) =>
    `## keelson ${name}\n\n${block(commandHelp(await entry.load()))}`));
  return page(
    generated,
    '# The command',
    'Every command prints this help with `--help`.',
    block(overviewHelp(overview())),
    ...sections,
  );
}
