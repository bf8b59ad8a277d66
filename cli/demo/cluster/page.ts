import type { Output } from '../../base/output.js';
import { isWhole, type Account } from './account.js';
import type { DemoNode } from './node.js';

export interface ClusterStart {
  readonly address: string;
  readonly nodes: readonly DemoNode[];
  readonly studies: readonly string[];
  /** In each study. */
  readonly people: number;
}

/** The output of `demo --cluster`: one page for people, or JSON lines. */
export class ClusterPage {
  constructor(private readonly output: Output) {}

  started({ address, nodes, studies, people }: ClusterStart): void {
    const { output } = this;
    output.jsonLine({
      type: 'started', dashboard: address, studies, people, ports: nodes.map(({ port }) => port),
    });
    output.text(`${nodes.length} servers on one PostgreSQL, ${studies.length} studies, `
      + `${people} people in each`);
    output.text(`dashboard at ${address}/ for as long as this runs`);
    output.text();
  }

  leaders(nodes: readonly DemoNode[], led: readonly (readonly string[])[]): void {
    const named = nodes.map(({ name }, i) => ({ name, leads: led[i]! }));
    this.output.jsonLine({ type: 'leaders', servers: named });
    for (const { name, leads } of named) this.output.text(`${name} leads ${leads.join(', ')}`);
  }

  killed({ name }: DemoNode, study: string, acknowledged: number): void {
    this.output.jsonLine({ type: 'killed', server: name, study, acknowledged });
    this.output.text();
    this.output.text(`${name} is killed without a warning, after ${acknowledged} answered rows`);
  }

  replaced({ name }: DemoNode, study: string, seconds: number): void {
    this.output.jsonLine({ type: 'replaced', server: name, study, seconds });
    this.output.text(`${name} leads ${study} ${seconds.toFixed(1)} s later`);
  }

  released(study: string, seconds: number, acknowledged: number): void {
    this.output.jsonLine({ type: 'released', study, seconds, acknowledged });
    this.output.text(`two more releases of ${study} after ${seconds.toFixed(1)} s, and `
      + `${acknowledged} rows were answered meanwhile`);
  }

  returned({ name }: DemoNode, leads: readonly string[]): void {
    this.output.jsonLine({ type: 'returned', server: name, leads });
    this.output.text(`${name} starts again, asks for a study, and leads ${leads.join(', ')}`);
  }

  account(account: Account): void {
    const { output } = this;
    output.jsonLine({ type: 'account', ...account, whole: isWhole(account) });
    output.text();
    output.text('what people were told, and what the database has:');
    const line = (name: string, count: number, rest = ''): void =>
      output.text(`  ${name.padEnd(28)}${String(count).padStart(7)}${rest}`);
    const unheard = account.stored - account.acknowledged + account.lost - account.twice;
    line('rows acknowledged', account.acknowledged);
    line('rows in the database', account.stored,
      unheard > 0 ? `   (${unheard} came when nobody waited for the answer)` : '');
    line('rows lost', account.lost);
    line('rows counted twice', account.twice);
    line('releases', account.releases);
    line('verified releases lost', account.lostReleases);
    line('epochs charged', account.charges);
    line('epochs charged twice', account.chargedTwice);
    output.text();
    output.text(isWhole(account) ? 'nothing was lost, and nothing counted twice'
      : 'something was lost or counted twice: this must not happen, please report it');
  }
}
