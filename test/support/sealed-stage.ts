import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../cli/demo/free-port.js';
import { createContributor, type Settled } from '../../client/index.js';
import { sealing } from '../../client/sealing.js';
import { systemClock } from '../../server/base/clock.js';
import { openSqliteStore } from '../../server/store/sqlite/open.js';
import { openServerKeys } from '../../server/keys/server-keys.js';
import {
  createAggregator, silentLogger, type Aggregator, type AggregatorOptions, type HubEvent,
} from '../../server/index.js';
import { parseStudyText } from '../../server/study-file/index.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import { toHex } from '../../src/base/bytes.js';
import type { Outcome } from '../../src/base/outcome.js';
import { signing } from '../../src/signing/node.js';
import { RecordedWire } from './recorded-wire.js';
import { decodeReleaseBody } from '../../src/wire/index.js';

export const names = ['north', 'east', 'west'] as const;

/** What a test says of its sealed study. */
export interface SealedStudyText {
  /** Lines of YAML: estimator and parameters. */
  readonly question: string;
  readonly everyMs: number;
  readonly columns?: string;
  /** Default 1000. */
  readonly cohort?: number;
  /** Default 4. The budget's is 40, or twice this one. */
  readonly epsilon?: number;
  /** Lines under `sealed`. */
  readonly sealed?: string;
  /** True if what the servers send each other is recorded. Default: no. */
  readonly isRecorded?: boolean;
  /** Other lines. */
  readonly more?: string;
}

/** Three folders with keys, three ports, and the study file that names them. */
export class SealedStage {
  readonly directory = mkdtempSync(join(tmpdir(), 'keelson-sealed-'));
  readonly servers: (Aggregator | null)[] = [null, null, null];
  text = '';
  ports: readonly number[] = [];
  /** To each server, from the two others. */
  wires: readonly RecordedWire[] = [];

  static async of(study: SealedStudyText): Promise<SealedStage> {
    const stage = new SealedStage();
    stage.ports = await Promise.all(names.map(freePort));
    if (study.isRecorded === true) {
      stage.wires = await Promise.all(stage.ports.map((port) => RecordedWire.to(port)));
    }
    const listed: string[] = [];
    for (const [i, name] of names.entries()) {
      const directory = stage.folder(i);
      await (await openSqliteStore({ directory, clock: systemClock })).close();
      const { seed } = openServerKeys(directory);
      const key = toHex(signing.createSigner(seed).publicKey);
      const url = `ws://127.0.0.1:${stage.wires[i]?.port ?? stage.ports[i]}`;
      listed.push(`    - { name: ${name}, url: '${url}', key: '${key}' }`);
    }
    const { cohort = 1000, epsilon = 4, question, everyMs } = study;
    const { columns = '[minutes]', sealed = '', more = '' } = study;
    stage.text = `study: shared
columns: ${columns}
cohort: ${cohort}
epoch: { every: ${everyMs}ms }
${question}
privacy: { epsilon: ${epsilon}, delta: 1e-6 }
budget: { epsilon: ${Math.max(40, 2 * epsilon)}, delta: 1e-5 }
${more}
sealed:
  against: reading
${sealed}
  servers:
${listed.join('\n')}
`;
    return stage;
  }

  folder(server: number): string {
    return join(this.directory, names[server]!);
  }

  get definition(): StudyDefinition {
    return parseStudyText(this.text, { name: 'shared.yaml' });
  }

  get url(): string {
    return `ws://127.0.0.1:${this.ports[0]}`;
  }

  get front(): Aggregator {
    return this.servers[0]!;
  }

  async start(server: number, options: Partial<AggregatorOptions> = {}): Promise<Aggregator> {
    const started = await createAggregator({
      dataDirectory: this.folder(server), studies: [this.definition], port: this.ports[server]!,
      logger: silentLogger, as: names[server]!, checkThreads: 0, releaseTickMs: 0, ...options,
    });
    this.servers[server] = started;
    return started;
  }

  async startAll(options: Partial<AggregatorOptions> = {}): Promise<void> {
    for (const server of [0, 1, 2]) await this.start(server, options);
  }

  /** Cuts what a failed server left, so that it can start again. */
  async forget(server: number): Promise<void> {
    await this.servers[server]?.close().catch(() => undefined);
    this.servers[server] = null;
  }

  async stop(server: number): Promise<void> {
    await this.servers[server]?.close();
    this.servers[server] = null;
  }

  async close(): Promise<void> {
    await Promise.all([0, 1, 2].map((server) => this.stop(server)));
    await Promise.all(this.wires.map((wire) => wire.close()));
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Contributes one list of rows as each person. */
  async contribute(
    rows: readonly (readonly (readonly number[])[])[], from = 1,
  ): Promise<Settled[]> {
    return Promise.all(rows.map(async (own, i) => {
      const seed = new Uint8Array(32).fill(7);
      new DataView(seed.buffer).setUint32(0, from + i);
      const contributor = createContributor({ url: this.url, study: 'shared', seed, sealing });
      const settled = await contributor.contribute(own);
      await contributor.close();
      return settled;
    }));
  }

  /** The outcomes of all questions of a release that the first server has. */
  async answers(index: number): Promise<readonly Outcome[]> {
    const { hub } = this.front;
    const [record] = await hub.releases(hub.studies()[0]!.studyId, index, 1);
    return decodeReleaseBody(record!.body).answers.map(({ outcome }) => outcome);
  }

  /** The outcome of the release with an index, once a server has it. */
  async release(index: number, server = 0): Promise<Outcome> {
    const { hub } = this.servers[server]!;
    const { studyId } = hub.studies()[0]!;
    const found = async (): Promise<Outcome | null> => {
      const [record] = await hub.releases(studyId, index, 1);
      return record === undefined ? null : decodeReleaseBody(record.body).answers[0]!.outcome;
    };
    return found().then((now) => now ?? new Promise<Outcome>((resolve, reject) => {
      const stop = hub.onEvent((event: HubEvent) => {
        if (event.kind !== 'release') return;
        found().then((outcome) => {
          if (outcome === null) return;
          stop();
          resolve(outcome);
        }, reject);
      });
      // It may have come between the two questions.
      found().then((outcome) => { if (outcome !== null) { stop(); resolve(outcome); } }, reject);
    }));
  }
}
