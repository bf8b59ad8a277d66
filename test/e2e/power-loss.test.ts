// @module-tag slow
import { afterEach, describe, expect, it } from 'vitest';
import { Stage } from '../support/live-command.js';
import { countsByForm, forms } from '../support/durability/load.js';
import { canRecord, record, replay } from '../support/durability/power-loss.js';

const stage = new Stage();
afterEach(() => stage.end());

const recordable = canRecord();

describe.skipIf(!recordable)(
  `a power cut${recordable ? '' : ' (skipped: strace is not there, or may not trace)'}`, () => {
    it('leaves every acknowledged row, once, before whichever sync it comes', async () => {
      const recording = await record(stage, 2, 20);
      expect(Object.keys(countsByForm(recording.acknowledged)).sort())
        .toEqual([...forms].sort());
      const report = await replay(stage, recording, { pointsMax: 12 });
      expect(report.failures).toEqual([]);
      expect(report.syncPoints).toBeGreaterThan(10);
      expect(report.lookedFor).toBeGreaterThan(0);
      // The same recording on a disk whose syncs do nothing: the model must see that acknowledged
      // rows are gone.
      const planted =
        await replay(stage, recording, { pointsMax: 12, ignoreSyncs: true, cuts: ['none'] });
      expect(planted.failures.length).toBeGreaterThan(0);
    });
  },
);
