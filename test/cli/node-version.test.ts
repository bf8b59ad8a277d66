import { describe, expect, it } from 'vitest';
import { nodeRemedy } from '../../cli/base/node-version.js';
import { keelson } from '../support/command.js';

const warning = /^warning: this is Node 20\.20\.0; install Node 24: the next release of Keelson needs /gm;

describe('a Node that the next release does not run on', () => {
  it('is one before 22.16', () => {
    expect(['20.20.0', '22.15.1', '22.16.0', '24.1.0', '100.0.0']
      .map((version) => nodeRemedy(version) !== undefined))
      .toEqual([true, true, false, false, false]);
  });

  it('is warned of once, beside the answer', async () => {
    const { status, stdout, stderr } = await keelson(['estimators'], { nodeVersion: '20.20.0' });
    expect([status, stderr.match(warning)]).toEqual([0, [expect.any(String)]]);
    expect(stdout).not.toContain('Node');
  });

  it('is not warned of in JSON, in help, nor where Node warns of nothing', async () => {
    const nodeVersion = '20.20.0';
    const runs = await Promise.all([
      keelson(['estimators', '--json'], { nodeVersion }),
      keelson(['estimators', '--help'], { nodeVersion }), keelson(['--version'], { nodeVersion }),
      keelson(['estimators'], { nodeVersion, environment: { NODE_NO_WARNINGS: '1' } }),
      keelson(['estimators'], { nodeVersion: '22.16.0' }),
    ]);
    expect(runs.map(({ stderr }) => stderr)).toEqual(['', '', '', '', '']);
  });
});
