/** A text of a source, which occurs there once, and what a fault puts in its place. */
export interface Edit {
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

/** A fault in encrypted channels, and the test that must notice it. */
export interface ChannelFault {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly file: string;
  /** Full name of the test. */
  readonly test: string;
}

const encrypted = 'test/listener/encrypted.test.ts';
const shares = 'test/listener/key-shares.test.ts';
const schedule = 'src/signing/channel-keys.ts';
const ownShares = 'server/listener/key-shares.ts';
const contributions = 'server/listener/contributions.ts';
const frames = 'server/listener/encryption.ts';

export const channelFaults: readonly ChannelFault[] = [
  {
    name: 'the counter is not raised for a frame that does not open',
    edits: [{
      file: frames,
      find: "return openFrame(this.keys.up, next(this.#up, encrypted), 'batch', encrypted);",
      put: "const plain = openFrame(this.keys.up, this.#up.frames, 'batch', encrypted);\n"
        + '    if (plain !== null) next(this.#up, encrypted);\n    return plain;',
    }],
    file: encrypted,
    test: 'a frame that is not the next one of its channel '
      + 'does not open: two were swapped, and the next one does',
  },
  {
    name: 'the counter is not raised for a frame that is refused for load',
    edits: [
      {
        file: frames, find: "  seal(kind: 'opened'",
        put: "  unopen(): void {\n    this.#up.frames -= 1;\n  }\n\n  seal(kind: 'opened'",
      },
      {
        file: contributions, find: '} else checked.release();',
        put: '} else {\n      encryption.unopen();\n      checked.release();\n    }',
      },
    ],
    file: encrypted,
    test: 'an encrypted channel '
      + 'counts a batch that is refused for load, whose sequence it names under seal',
  },
  {
    name: 'M does not name the study',
    edits: [{
      file: schedule, find: "signedMessage('open', context,",
      put: "signedMessage('open', { ...context, studyId: noStudy },",
    }],
    file: encrypted,
    test: 'an Open is refused on another socket, of another key, and for another study or share',
  },
  {
    name: 'a client share is taken twice on a socket',
    edits: [{
      file: contributions, find: 'this.#clientShares.has(toHex(hello.clientShare))', put: 'false',
    }],
    file: encrypted, test: 'an Open is refused with a share that the socket has seen',
  },
  {
    name: 'Z = 0 is accepted by the server',
    edits: [{
      file: ownShares,
      find: "this length.\n      return 'zero';",
      put: 'this length.\n      return new Uint8Array(32);',
    }],
    file: encrypted, test: 'an Open is refused with a share that makes the secret zero',
  },
  {
    name: 'Z = 0 is accepted by the client',
    edits: [{
      file: 'client/session/opening.ts', find: 'agreed === null', put: 'agreed === undefined',
    }],
    file: 'test/client/handshake.test.ts',
    test: `an Open on Node is not made for the signed share ${'00'.repeat(32)} `
      + 'of small order',
  },
  {
    name: 'k_up is k_down',
    edits: [{ file: schedule, find: "'keelson v2 server'", put: "'keelson v2 contributor'" }],
    file: 'test/signing/channel-keys.test.ts',
    test: 'frames of a channel open under no other number, kind, direction or bytes',
  },
  {
    name: 'the secret of a share is used after its end',
    // The two checks of `isOver` alone do not matter: without its key, no share agrees.
    edits: [{
      file: ownShares, find: '  end(): void {\n    this.#key = null;', put: '  end(): void {',
    }],
    file: encrypted,
    test: 'an Open is refused when its share is over, and open channels go on',
  },
  {
    name: 'the key of a share is kept after its end',
    edits: [{
      file: ownShares, find: '  end(): void {\n    this.#key = null;',
      put: '  readonly #kept: unknown[] = [];\n\n'
        + '  end(): void {\n    this.#kept.push(this.#key);\n    this.#key = null;',
    }],
    file: shares, test: 'leaves nothing that leads to the key: it is collected',
  },
  {
    name: 'the array of a secret is not overwritten',
    edits: [{ file: ownShares, find: '    secret.fill(0);\n', put: '' }],
    file: shares, test: 'keeps no secret in its array, on any of 24 hours',
  },
  {
    name: 'the digest is compared across contributors',
    edits: [
      {
        file: 'server/store/rules/admission-list.ts', find: '  admit(batch: AdmissionRequest)',
        put: '  static readonly #seen = new Map<string, string>();\n\n'
          + '  admit(batch: AdmissionRequest)',
      },
      {
        file: 'server/store/rules/admission-list.ts',
        find: '    const source = this.#source;\n    const study =',
        put: '    const digest = Buffer.from(batch.digest).toString(\'hex\');\n'
          + '    const first = ListAdmission.#seen.get(digest) ?? batch.contributor;\n'
          + '    ListAdmission.#seen.set(digest, first);\n'
          + '    if (first !== batch.contributor) return answer(\'duplicate\', { epoch: 1n });\n'
          + '    const source = this.#source;\n    const study =',
      },
    ],
    file: 'test/store/sqlite.test.ts',
    test: 'SQLite store, inline admission takes a body that another contributor sent before',
  },
];
