import { Sealed } from '../../base/brands.js';
import { utf8 } from '../../base/bytes.js';
import { seededRandom } from '../../random/work.js';
import { servers, type ServerIndex } from '../../sealed/shares/body.js';
import { difference, type ShareForm } from '../../sealed/shares/form.js';
import type { RowShare } from '../../sealed/shares/opening.js';
import { KeyStream } from '../../sealed/steps/key-stream.js';
import { Party, type Link } from '../../sealed/steps/party.js';
import { signing } from '../../signing/node.js';

/** Links between three parties in this process. */
function links(): readonly Link[] {
  const waiting = new Map<string, Uint8Array[]>();
  const wanted = new Map<string, (message: Uint8Array) => void>();
  return servers.map((server) => ({
    send: (to, message) => {
      const way = `${server}${to}`;
      const receiver = wanted.get(way);
      wanted.delete(way);
      if (receiver !== undefined) receiver(message);
      else waiting.set(way, [...waiting.get(way) ?? [], message]);
    },
    receive: (from) => new Promise((resolve) => {
      const way = `${from}${server}`;
      const message = waiting.get(way)?.shift();
      if (message !== undefined) resolve(message);
      else wanted.set(way, resolve);
    }),
  }));
}

function keyOf(component: number): Uint8Array {
  const key = new Uint8Array(16);
  seededRandom(utf8(`component ${component}`)).fill(key);
  return key;
}

/** Runs the same work at three parties in this process. Keys are fixed, so nothing is private. */
export async function atThreeParties<T>(
  work: (party: Party) => Promise<T>,
): Promise<readonly T[]> {
  const ends = links();
  const stream = (component: number): KeyStream => KeyStream.ofKey(keyOf(component % 3));
  return Promise.all(servers.map((server: ServerIndex) => work(new Party({
    server, link: ends[server]!, own: stream(server), next: stream(server + 1),
    start: new Uint8Array(32), sha512: (bytes) => signing.sha512(bytes), proofsOf: null,
  }))));
}

/** Splits rows among the three servers, as contributors do: two random components and the rest. */
export function splitRows(
  values: readonly Uint32Array[], form: ShareForm,
): readonly (readonly Sealed<RowShare>[])[] {
  const random = seededRandom(utf8('components'));
  const rows = values.map((row) => {
    const [first, second] = [0, 1].map(() => row.map(() =>
      Math.floor(random.uniform() * 2 ** form.bits))) as [Uint32Array, Uint32Array];
    return [first, second, difference(difference(row, first, form), second, form)];
  });
  return servers.map((server) => rows.map((components) =>
    Sealed.of({ own: components[server]!, next: components[(server + 1) % 3]! })));
}
