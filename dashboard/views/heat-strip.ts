import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { describeNumbers } from '../../src/answers/describe.js';
import { coloursOf } from '../base/colours.js';
import { clockTime, counted, whole } from '../base/format.js';
import { columnsOf, columnsWithin, type HeatColumn } from '../base/heat.js';
import { html } from '../base/html.js';
import { reasonInWords, type Asked, type History } from '../base/model.js';
import { axisName, columnOf } from '../base/number-words.js';
import { paint as painted } from '../base/theme.js';
import type { View } from '../base/view.js';
import {
  heatDrawing, heatLeft, heatPlaceAt, type HeatFrame, type HeatPlace,
} from '../charts/heat.js';
import { paint } from '../charts/paint.js';

/** The contents of a strip. */
interface HeatFacts {
  /** Oldest first; at least one has cells. */
  readonly columns: readonly HeatColumn[];
  /** True if the cells have names instead of values. */
  readonly isNamed: boolean;
  /** The quantity on the axis. */
  readonly name: string;
  readonly view: View;
  readonly onView: (change: Partial<View>) => void;
}

const colourNames = ['ink', 'quiet', 'line', 'accent', 'warn', 'card', 'minus'] as const;
/** A drag over fewer pixels is a click. */
const brushMin = 8;

/** The answers to a question as a strip; nothing where they are not drawn as one. */
export function HeatOverTime({ asked, history, version, view, onView }: {
  readonly asked: Asked;
  readonly history: History;
  /** Changes with the history. */
  readonly version: number;
  readonly view: View;
  readonly onView: (change: Partial<View>) => void;
}): VNode | null {
  const columns = useMemo(() => columnsOf(asked, history.answers), [asked, version]);
  const shown = useMemo(() => columns && columnsWithin(columns, view),
    [columns, view.range, view.chosen?.[0], view.chosen?.[1]]);
  if (shown === null || shown.every(({ refusal }) => refusal !== null)) return null;
  return html`<${HeatStrip} columns=${shown} isNamed=${describeNumbers(asked)[0]?.kind === 'bin'}
    name=${axisName(asked, columnOf(asked))} view=${view} onView=${onView} />`;
}

/** The whole distribution over time: one column for each release, darker where more people are. */
function HeatStrip(facts: HeatFacts): VNode {
  const { columns, name, view } = facts;
  const [pointed, setPointed] = useState<HeatPlace | null>(null);
  const pinned = view.epoch === null ? -1
    : columns.findIndex(({ epoch }) => epoch === view.epoch);
  const newest = columns.findLastIndex(({ refusal }) => refusal === null);
  const read = columns[pointed?.column ?? (pinned < 0 ? newest : pinned)]!;
  return html`<section class="card heat-strip"><h2>Distribution over time: ${name}</h2>
    <${Strip} ...${facts} pointed=${pointed} pinned=${pinned} onPoint=${setPointed}
      said=${readoutOf(read, pointed?.cell ?? null)} />
    <p class="readout quiet" aria-hidden="true">${pointed === null
      ? `${counted(columns.length, 'release')}, one column each` : readoutOf(read, pointed.cell)}</p>
    <p class="heat-key quiet small"><span aria-hidden="true"></span>Darker: more people. The noise is not
      in the shade: the number of each cell has its interval.</p>
    <details><summary>${`Epoch ${whole(read.epoch)} in numbers`}</summary>
      ${read.refusal !== null ? html`<p>Refused: ${reasonInWords(read.refusal)}.</p>`
      : html`<table><tbody>${[...read.cells].reverse().map((cell) => html`<tr key=${cell.name}>
        <th scope="row"><bdi>${cell.name}</bdi></th><td>${cell.text}</td></tr>`)}</tbody></table>`}
    </details></section>`;
}

function readoutOf(column: HeatColumn, cell: number | null): string {
  const when = `${clockTime(column.time)}, epoch ${whole(column.epoch)}`;
  if (column.refusal !== null) return `${when}: refused, ${reasonInWords(column.refusal)}`;
  const found = cell === null ? undefined : column.cells[cell];
  return found === undefined ? when : `${when}, ${found.name}: ${found.text}`;
}

interface StripFacts extends HeatFacts {
  readonly pointed: HeatPlace | null;
  /** The column that the address names; -1 for none. */
  readonly pinned: number;
  readonly onPoint: (place: HeatPlace | null) => void;
  /** The chosen cell, for readers who do not see it. */
  readonly said: string;
}

function Strip(facts: StripFacts): VNode {
  const { columns, isNamed, name, pointed, pinned, said, onPoint, view: { axis } } = facts;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const colours = painted.value;
  const shown = pointed ?? (pinned < 0 ? null : { column: pinned, cell: -1 });
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(canvas.current!.clientWidth));
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  }, []);
  const frame = (): HeatFrame => ({
    width: canvas.current!.clientWidth, height: canvas.current!.clientHeight,
    left: heatLeft(columns, isNamed), axis,
  });
  useEffect(() => {
    if (width === 0) return;
    const found = coloursOf(canvas.current!.parentElement!, colourNames);
    paint(heatDrawing(columns, isNamed, frame(), shown, found), canvas.current!, devicePixelRatio);
  }, [columns, isNamed, axis, width, colours, shown?.column, shown?.cell]);
  const at = ({ offsetX, offsetY }: PointerEvent): HeatPlace | null =>
    heatPlaceAt(columns, frame(), offsetX, offsetY);
  return html`<canvas ref=${canvas} tabindex="0" role="slider" aria-label=${`Distribution of ${name}`
    + ' over time: arrows left and right choose a release, up and down a cell'}
    aria-valuemin="0" aria-valuemax=${columns.length - 1} aria-valuetext=${said}
    aria-valuenow=${shown?.column ?? columns.length - 1}
    onPointerMove=${(event: PointerEvent) => onPoint(at(event))}
    onPointerLeave=${({ pointerType }: PointerEvent) => {
      if (pointerType !== 'touch') onPoint(null);
    }}
    onBlur=${() => onPoint(null)} ...${brushOf(facts, at)}
    onKeyDown=${(event: KeyboardEvent) => {
      const next = keyed(facts, event.key);
      if (next === undefined) return;
      event.preventDefault();
      onPoint(next);
    }}></canvas>`;
}

/** A click chooses a release, and a drag the releases that it goes over, as in the other charts. */
function brushOf(
  { columns, view, onView, onPoint }: StripFacts, at: (event: PointerEvent) => HeatPlace | null,
): object {
  const from = useRef<{ readonly x: number; readonly place: HeatPlace | null } | null>(null);
  return {
    onPointerDown: (event: PointerEvent) => {
      from.current = { x: event.offsetX, place: at(event) };
      onPoint(at(event));
    },
    onPointerUp: (event: PointerEvent) => {
      const [start, end] = [from.current, at(event)];
      from.current = null;
      if (start === null || start.place === null || end === null) return;
      if (Math.abs(event.offsetX - start.x) < brushMin) {
        const { epoch } = columns[end.column]!;
        return onView({ epoch: view.epoch === epoch ? null : epoch });
      }
      const [first, last] = [start.place.column, end.column].sort((one, two) => one - two);
      if (last! > first!) onView({ chosen: [columns[first!]!.epoch, columns[last!]!.epoch] });
    },
    onPointerCancel: () => { from.current = null; },
  };
}

/** The place that a key leads to; undefined for keys without a meaning here. */
function keyed(
  { columns, pointed, pinned }: StripFacts, key: string,
): HeatPlace | null | undefined {
  if (key === 'Escape') return null;
  const last = columns.length - 1;
  const { column, cell } = pointed ?? { column: pinned < 0 ? last : pinned, cell: 0 };
  const to = { ArrowLeft: [column - 1, cell], ArrowRight: [column + 1, cell], Home: [0, cell],
    End: [last, cell], ArrowUp: [column, cell + 1], ArrowDown: [column, cell - 1] }[key];
  if (to === undefined) return undefined;
  const next = Math.min(last, Math.max(0, to[0]!));
  const cells = columns[next]!.cells.length;
  return { column: next, cell: Math.min(Math.max(0, cells - 1), Math.max(0, to[1]!)) };
}
