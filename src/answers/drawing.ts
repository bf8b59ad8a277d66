/** Colours of a drawing. */
export interface PaperColours {
  readonly ink: string;
  readonly quiet: string;
  readonly line: string;
  readonly accent: string;
  readonly warn: string;
  readonly card: string;
  /** The colour of the smoothed line. */
  readonly minus: string;
}

/** A point in pixels from the top left corner. */
export type Point = readonly [x: number, y: number];

/** One part of a drawing. */
export type Mark =
  | {
    readonly kind: 'path'; readonly points: readonly Point[]; readonly colour: string;
    /** Absent: the area is filled. */
    readonly width?: number;
    readonly opacity?: number;
  }
  | {
    readonly kind: 'text'; readonly at: Point; readonly text: string; readonly size: number;
    readonly colour: string; readonly weight?: number; readonly align?: 'start' | 'middle' | 'end';
  };

/** A drawing that can become SVG or pixels. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly background: string;
  readonly marks: readonly Mark[];
}

/** The font of all texts of a drawing. */
export const family = 'system-ui, sans-serif';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;',
};

/** Text as it stands in HTML and SVG, also between double quotes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (each) => escapes[each]!);
}

const rounded = (value: number): string => String(Math.round(value * 100) / 100);

/** The drawing as an SVG file. */
export function svgOf({ width, height, background, marks }: Drawing): string {
  const lines = marks.map((mark) => {
    if (mark.kind === 'text') {
      const { at: [x, y], text, size, colour, weight = 400, align = 'start' } = mark;
      return `<text x="${rounded(x)}" y="${rounded(y)}" font-size="${size}" `
        + `font-weight="${weight}" fill="${colour}" text-anchor="${align}">${escaped(text)}</text>`;
    }
    const { points, colour, width: stroke, opacity = 1 } = mark;
    const path = points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${rounded(x)} ${rounded(y)}`);
    return stroke === undefined
      ? `<path d="${path.join('')}Z" fill="${colour}" fill-opacity="${opacity}"/>`
      : `<path d="${path.join('')}" fill="none" stroke="${colour}" stroke-width="${stroke}" `
        + `stroke-opacity="${opacity}" stroke-linejoin="round" stroke-linecap="round"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" `
    + `height="${height}" font-family="${family}">\n<rect width="${width}" height="${height}" `
    + `fill="${background}"/>\n${lines.join('\n')}\n</svg>\n`;
}
