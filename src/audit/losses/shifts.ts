import { leadOf } from '../../privacy/mechanisms/mode.js';
import type { ObservedCall } from '../../privacy/mechanisms/observed.js';

/** How far the contents of a call move between the sides: left minus right. */
export type Shift = Float64Array | number | readonly ReadonlyMap<number, number>[];

/** The shifts of a release, by the place and the name of each call. */
export type Shifts = ReadonlyMap<string, Shift>;

/**
 * The shift of labels is that of their lead.
 * @returns null where contents are keys or masked, and where their lengths differ.
 */
export function shiftOf(
  { event, method, contents: [left] }: ObservedCall, [right]: ObservedCall['contents'],
): Shift | null {
  if (method === 'mask' || method === 'groupHistogram') return null;
  if (method === 'mode') {
    return leadOf(left as readonly string[]).lead - leadOf(right as readonly string[]).lead;
  }
  if (left instanceof Float64Array) {
    return left.length === (right as Float64Array).length
      ? left.map((entry, i) => entry - (right as Float64Array)[i]!) : null;
  }
  if (typeof left === 'number') return left - (right as number);
  if (event.kind !== 'gaussian-histogram') return null;
  return (left as readonly ReadonlyMap<number, number>[]).map((bins, i) => {
    const others = (right as readonly ReadonlyMap<number, number>[])[i]!;
    const moved = [...bins].map(([bin, count]): [number, number] =>
      [bin, count - (others.get(bin) ?? 0)]);
    return new Map(moved.filter(([, gap]) => gap !== 0));
  });
}

/**
 * Contents that are moved by a multiple of a shift, or null if the shift does not fit them. An
 * occupied bin keeps a count of at least 1, and an empty one stays empty. Labels become as many of
 * the commonest one as it leads by, and at least one.
 */
export function moved(
  { method, contents: [content] }: ObservedCall, shift: Shift | undefined, multiple: number,
): unknown {
  if (shift === undefined || multiple === 0) return null;
  if (method === 'mode' && typeof shift === 'number') {
    const { label, lead } = leadOf(content as readonly string[]);
    return Array<string>(Math.max(1, Math.round(lead + multiple * shift))).fill(label);
  }
  if (content instanceof Float64Array) {
    return shift instanceof Float64Array && shift.length === content.length
      ? content.map((entry, i) => entry + multiple * shift[i]!) : null;
  }
  if (typeof content === 'number') {
    return typeof shift === 'number' ? content + multiple * shift : null;
  }
  if (!Array.isArray(shift) || !Array.isArray(content) || shift.length !== content.length) {
    return null;
  }
  return (content as readonly ReadonlyMap<number, number>[]).map((bins, i) => {
    const gaps = (shift as readonly ReadonlyMap<number, number>[])[i]!;
    return new Map([...bins].map(([bin, count]): [number, number] => [bin, count === 0 ? 0
      : Math.max(1, count + Math.round(multiple * (gaps.get(bin) ?? 0)))]));
  });
}
