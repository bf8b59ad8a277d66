import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { retryableWireCodes, wireCodes } from '../../src/base/error-codes.js';
import { protocolLimits } from '../../src/base/limits.js';
import { refusalReasons } from '../../src/base/outcome.js';
import { logFaultCodes } from '../../src/log/index.js';
import { protocolVersion, signedMessageBytes } from '../../src/signing/index.js';
import { subprotocol } from '../../src/wire/index.js';

const text = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const page = text('docs/reference/protocol.md');

interface Entry { readonly bytes: string }
const frames = JSON.parse(text('test/vectors/frames.json')) as {
  facts: string;
  studyId: string;
  typedFacts: string;
  typedStudyId: string;
  textFacts: string;
  textStudyId: string;
  bodies: Record<string, Entry>;
  clientFrames: Record<string, Entry>;
  serverFrames: Record<string, Entry>;
};
const signatures = JSON.parse(text('test/vectors/signatures.json')) as {
  serverSeed: string; serverKey: string; contributorSeed: string; contributorKey: string;
  issuerSeed: string; issuerKey: string; enrolmentToken: string;
  signed: { label: string; message: string; signature: string }[];
};

const rows = (pattern: RegExp): string[][] =>
  [...page.matchAll(pattern)].map(([, ...groups]) => groups);

describe('docs/reference/protocol.md', () => {
  it('shows the vectors', () => {
    const shown = Object.fromEntries(
      rows(/^```hex ([a-z-]+)\n([0-9a-f\n]+)```$/gm)
        .map(([name, hex]) => [name!, hex!.replaceAll('\n', '')] as const),
    );
    expect(shown).toEqual({
      'server-seed': signatures.serverSeed,
      'server-key': signatures.serverKey,
      'contributor-seed': signatures.contributorSeed,
      'contributor-key': signatures.contributorKey,
      'issuer-seed': signatures.issuerSeed,
      'issuer-key': signatures.issuerKey,
      'enrol-token': signatures.enrolmentToken,
      'study-id': frames.studyId,
      'typed-study-id': frames.typedStudyId,
      'text-study-id': frames.textStudyId,
      'hello-frame': frames.clientFrames['hello']!.bytes,
      'batch-frame': frames.clientFrames['batch']!.bytes,
      'ready-frame': frames.serverFrames['ready']!.bytes,
      'ack-frame': frames.serverFrames['ack']!.bytes,
      ...Object.fromEntries(
        Object.entries(frames.bodies).map(([name, { bytes }]) => [`${name}-body`, bytes]),
      ),
      ...Object.fromEntries(
        signatures.signed.flatMap(({ label, message, signature }) => [
          [`${label}-message`, message],
          [`${label}-signature`, signature],
        ]),
      ),
    });
    expect(page).toContain(`\`\`\`json facts\n${frames.facts}\n\`\`\``);
    expect(page).toContain(`\`\`\`json typed-facts\n${frames.typedFacts}\n\`\`\``);
    expect(page).toContain(`\`\`\`json text-facts\n${frames.textFacts}\n\`\`\``);
  });

  it('lists the codes as the sources and the schema do', () => {
    const shown = rows(/^\| (\d+) \| `([a-z-]+)` \| (yes|no) \| .+ \| .+ \|$/gm);
    expect(shown).toEqual(
      wireCodes.map((code, i) => [String(i), code, retryableWireCodes.has(code) ? 'yes' : 'no']),
    );
    const schema = [
      ...text('proto/keelson/v1/wire.proto').matchAll(/^ {2}CODE_([A-Z_]+) = (\d+);/gm),
    ];
    expect(schema.map(([, name, number]) => [number, name!.toLowerCase().replaceAll('_', '-')]))
      .toEqual(
        shown.map(([number, code]) => [number, code]),
      );
  });

  it('lists the faults of a log', () => {
    const [, table] = /^\| fault \| meaning \|\n\|---\|---\|\n((?:\|.+\n)+)/m.exec(page)!;
    expect([...table!.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name))
      .toEqual([...logFaultCodes]);
  });

  it('states the numbers that the sources hold', () => {
    expect(page).toContain(`subprotocol \`${subprotocol}\``);
    expect(page).toContain(`over these ${signedMessageBytes} bytes`);
    expect(page).toContain(`protocol version, big-endian: ${protocolVersion}`);
    expect([protocolLimits.badSignaturesPerSocket, protocolLimits.malformedFramesPerSocket])
      .toEqual([3, 3]);
    expect(page).toContain(
      `three bad signatures; ${protocolLimits.strayFramesPerSocket} frames past the credit`,
    );
    expect(page).toContain('| 1002 | three frames that could not be read |');
    expect(page).toContain(`closed with 1008 after ${protocolLimits.handshakeTimeoutMs / 1_000} s`);
    expect(page)
      .toContain(`\`limits.frame_bytes\` (${protocolLimits.frameBytes / 2 ** 20} MiB unless`);
    expect(text('docs/operating/operations.md'))
      .toContain(`clients are at most ${protocolLimits.frameBytes / 2 ** 20} MiB`);
    expect(page).toContain(`pings every ${protocolLimits.heartbeatMs / 1_000} s`);
    expect(page).toContain(`more than ${protocolLimits.httpPerSecond} requests a second`);
    expect(page).toContain(`after a burst of ${protocolLimits.httpBurst}`);
    expect(text('src/wire/reader.ts')).toContain('const itemsMax = 40_960;');
    expect(page).toContain('40,960');
    for (const reason of refusalReasons) expect(page).toContain(`\`${reason}\``);
  });

  it('names every field of the schema', () => {
    const fields = [...text('proto/keelson/v1/wire.proto')
      .matchAll(/^ {2,4}(?:repeated )?[A-Za-z0-9]+ ([a-z_0-9]+) = \d+;/gm)];
    expect(fields.length).toBeGreaterThan(80);
    // Covered as a group: "spent and cap after this charge", and the kinds of frames by their
    // message names.
    const grouped =
      /^(hello|batch|subscribe|unsubscribe|welcome|ready|ack|release|head|notice|refusal|(rho|delta|epsilon)_(spent|cap)|epsilon|text|reason|gaussian|value|refused)$/;
    const missing = fields.map(([, name]) => name!)
      .filter((name) => !grouped.test(name) && !page.includes(name));
    expect(missing).toEqual([]);
  });
});
