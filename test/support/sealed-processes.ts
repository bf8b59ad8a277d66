import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LiveCommand } from './live-command.js';
import { names, SealedStage, type SealedStudyText } from './sealed-stage.js';

/** Three real `keelson serve` processes of one sealed study. */
export class SealedProcesses {
  readonly commands: (LiveCommand | null)[] = [null, null, null];

  private constructor(readonly stage: SealedStage) {}

  static async of(study: SealedStudyText): Promise<SealedProcesses> {
    const stage = await SealedStage.of(study);
    writeFileSync(join(stage.directory, 'study.yaml'), stage.text);
    writeFileSync(join(stage.directory, 'settings.yaml'), 'releaseTick: 0s\n');
    return new SealedProcesses(stage);
  }

  async start(server: number): Promise<void> {
    const command = new LiveCommand([
      'serve', join(this.stage.directory, 'study.yaml'), '--data', this.stage.folder(server),
      '--as', names[server]!, '--port', String(this.stage.ports[server]), '--json',
      '--log-level', 'debug', '--settings', join(this.stage.directory, 'settings.yaml'),
    ]);
    this.commands[server] = command;
    await command.line(({ type }) => type === 'listening');
  }

  async startAll(): Promise<void> {
    await Promise.all([0, 1, 2].map((server) => this.start(server)));
  }

  pid(server: number): number {
    return this.commands[server]!.child.pid!;
  }

  /** Stops a process where it is, or lets it go on. */
  signal(server: number, name: 'SIGSTOP' | 'SIGCONT'): void {
    this.commands[server]!.child.kill(name);
  }

  async kill(server: number): Promise<void> {
    await this.commands[server]!.kill();
  }

  async get(server: number, path: string): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.stage.ports[server]}${path}`)).text();
  }

  async close(): Promise<void> {
    for (const command of this.commands) await command?.kill();
    await this.stage.close();
  }
}
