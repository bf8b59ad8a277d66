// @module-tag slow
import { afterEach, beforeEach, expect, it } from 'vitest';
import { forms } from '../support/durability/load.js';
import { KillRun } from '../support/durability/kill-run.js';
import { Stage } from '../support/live-command.js';

let stage: Stage;
beforeEach(() => { stage = new Stage(); });
afterEach(() => stage.end());

it('keeps its promises in every scope and rule when it is killed, changes its key and has a wrong '
  + 'clock', async () => {
  const run = new KillRun(stage, { kills: 8, people: 36, seed: 3 });
  const { figures, broken } = await run.run();
  expect(broken).toEqual([]);
  expect(figures).toMatchObject({ lost: 0, twice: 0, faults: 0, clocksRefused: 1 });
  for (const name of [...forms, 'withdrawn', 'releases'] as const) {
    expect(figures[name], name).toBeGreaterThan(0);
  }
  // Folders that are damaged on purpose: the judge must see each damage.
  expect(await run.missedPlants()).toEqual([]);
});
