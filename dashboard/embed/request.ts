/** The request that the address of an embedded page states. */
export interface EmbedRequest {
  /** Names or ids; empty for all open studies of the server. */
  readonly studies: readonly string[];
  /** As the element's attribute; `all` or empty: every number in turn, on a page that changes. */
  readonly chart: string;
  /** Seconds for which each chart is shown; null where the page does not change. */
  readonly every: number | null;
  readonly theme: 'light' | 'dark' | null;
  readonly query: URLSearchParams;
}

const everyDefault = 15;
/** A chart that is gone sooner cannot be read. */
const everyMin = 3;

/**
 * Reads `/embed/STUDY?chart=...&every=...` and `/kiosk?studies=A,B&every=...`. Unreadable parts
 * count as absent.
 */
export function requestOf(path: string, search: string): EmbedRequest {
  const query = new URLSearchParams(search);
  const isKiosk = path === '/kiosk';
  const chart = query.get('chart') ?? '';
  const seconds = /^\d{1,5}$/.test(query.get('every') ?? '')
    ? Math.max(everyMin, Number(query.get('every'))) : null;
  const theme = query.get('theme');
  return {
    studies: isKiosk ? (query.get('studies') ?? '').split(',').filter((name) => name !== '')
      : [decoded(path.slice('/embed/'.length))],
    chart, theme: theme === 'light' || theme === 'dark' ? theme : null, query,
    every: seconds ?? (isKiosk || chart === 'all' ? everyDefault : null),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
