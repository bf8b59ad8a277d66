import { inflateSync } from 'node:zlib';

/** Where an image is on its page, in points from the left end of the paper. */
export interface PrintedImage {
  readonly left: number;
  readonly right: number;
  readonly tall: number;
  /** The right end of the narrowest rectangle that cuts it off. */
  readonly shown: number;
}

/** A transformation of points: `[a b c d e f]` as PDF writes it. */
type Matrix = readonly number[];

const product = ([a, b, c, d, e, f]: Matrix, [g, h, i, j, k, l]: Matrix): Matrix => [
  a! * g! + b! * i!, a! * h! + b! * j!, c! * g! + d! * i!, c! * h! + d! * j!,
  e! * g! + f! * i! + k!, e! * h! + f! * j! + l!,
];

/** The images of a PDF file of Chromium, in their order, and the width of its paper. */
export function imagesOf(file: Uint8Array): {
  readonly width: number; readonly images: readonly PrintedImage[];
} {
  const text = Buffer.from(file).toString('latin1');
  const width = Number(/\/MediaBox ?\[0 0 ([\d.]+)/.exec(text)![1]);
  // Whatever is half transparent is drawn by `Do` as well, as a form.
  const pictures = new Set([...text.matchAll(/(\d+) 0 obj\s*<<[^>]*\/Subtype\s*\/Image/g)]
    .map(([, number]) => `/X${number}`));
  const images = [...text.matchAll(/FlateDecode[^>]*>>\s*stream\r?\n/g)].flatMap((found) => {
    // Pixels and fonts are no commands, whatever their bytes look like.
    const head = text.slice(text.lastIndexOf(' obj', found.index), found.index + found[0].length);
    if (/\/Subtype\s*\/Image|\/Length1/.test(head)) return [];
    const from = found.index + found[0].length;
    const packed = file.subarray(from, text.indexOf('endstream', from));
    return drawnBy(unpacked(packed), width, pictures);
  });
  return { width, images };
}

function unpacked(bytes: Uint8Array): string {
  try {
    return inflateSync(bytes).toString('latin1');
  } catch {
    return '';
  }
}

/** Follows the transformations and clips of one stream of drawing commands. */
function drawnBy(
  commands: string, paper: number, pictures: ReadonlySet<string>,
): readonly PrintedImage[] {
  const images: PrintedImage[] = [];
  const kept: (readonly [Matrix, number])[] = [];
  let [matrix, shown]: readonly [Matrix, number] = [[1, 0, 0, 1, 0, 0], paper];
  let box: readonly number[] = [];
  for (const line of commands.split('\n')) {
    const words = line.trim().split(/\s+/);
    const numbers = words.slice(0, -1).map(Number);
    switch (words.at(-1)) {
      case 'q': kept.push([matrix, shown]); break;
      case 'Q': [matrix, shown] = kept.pop() ?? [matrix, shown]; break;
      case 'cm': matrix = product(numbers, matrix); break;
      case 're': box = numbers; break;
      case 'n':
        if (words[0] === 'W*' || words[0] === 'W') {
          shown = Math.min(shown, (box[0]! + box[2]!) * matrix[0]! + matrix[4]!);
        }
        break;
      case 'Do':
        if (!pictures.has(words[0]!)) break;
        images.push({
          left: matrix[4]!, right: matrix[4]! + matrix[0]!, tall: Math.abs(matrix[3]!), shown,
        });
        break;
      default:
    }
  }
  return images;
}
