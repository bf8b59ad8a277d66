import {
  giveUpRows, lostRows, type LostEpoch,
} from '../../../server/store/postgres/give-up-rows.js';
import { defineCommand } from '../../base/command.js';
import { readSettings } from '../../base/settings-file.js';
import { placeOf } from '../../base/store-flags.js';
import { passwordDetails, tableArguments } from './tables.js';

export const giveUpStoredRows = defineCommand({
  name: 'store give-up-rows',
  summary: 'End epochs of a store in PostgreSQL whose encryption keys are lost for ever.',
  details: [
    'Without these keys no server starts. The command shows the epochs whose rows nobody can read '
    + 'any more. With --yes it ends them without a release and deletes their rows, so that servers '
    + 'start again. Stop the servers first.',
    passwordDetails,
  ],
  args: {
    ...tableArguments,
    'encryption-keys': { ...tableArguments['encryption-keys'], required: true },
    yes: { type: 'boolean', description: 'give them up, instead of showing what is lost' },
    all: { type: 'boolean', description: 'also when the folder has none of the encryption keys' },
  },
  examples: ['keelson store give-up-rows postgres://keelson@db/keelson --encryption-keys rows'],
  async run({ args, output }) {
    const place = placeOf(args.url, readSettings(args.settings));
    const { 'encryption-keys': folder, yes = false, all = false } = args;
    const lost = yes ? await giveUpRows(place, folder, all) : await lostRows(place, folder);
    output.json({
      done: yes, keys: lost.keys, isAll: lost.isAll,
      epochs: lost.epochs.map((each) => ({ ...each, epoch: String(each.epoch) })),
    });
    for (const name of lost.keys) output.text(`encryption key ${name} is not in ${folder}`);
    for (const { epoch, study, state } of lost.epochs) {
      output.text(`epoch        ${epoch} of ${study} (${state}): ${fates[state]}`);
    }
    if (lost.keys.length === 0) {
      output.text('no encryption key is missing: there is nothing to give up');
    } else if (yes) {
      output.text('done: servers start again, and each study goes on with its next epoch');
    } else {
      output.text('nothing is changed yet. First look for the files in copies of the folder. If '
        + 'they are lost for ever, stop all servers and add --yes. This cannot be undone'
        + (lost.isAll ? '. The folder has none of the encryption keys: is it the right one? '
          + 'If it is, add '
          + '--all too' : ''));
    }
    return 0;
  },
});

/** The fate of an epoch whose rows are given up, by its state. */
const fates: Readonly<Record<LostEpoch['state'], string>> = {
  open: 'ends without a release, and its cost goes back to the budget',
  closing: 'ends without a release, and its cost goes back to the budget',
  charged: 'ends as interrupted, and its cost stays spent',
  released: 'its rows are deleted, and its release stays',
  lapsed: 'its rows are deleted',
};
