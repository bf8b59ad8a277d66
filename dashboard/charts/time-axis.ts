const dayMs = 86_400_000;

/** Steps between two marks of a time axis, so that marks are at round times. */
export const timeSteps: readonly number[] = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200,
  86_400, 172_800, 604_800, 2_592_000, 7_776_000, 31_536_000,
].map((seconds) => seconds * 1_000);

const locale = 'en-GB';
const texts = {
  second: new Intl.DateTimeFormat(locale, {
    hour: '2-digit', minute: '2-digit', second: '2-digit',
  }),
  minute: new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' }),
  day: new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' }),
  month: new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric' }),
};

/**
 * The texts below a time axis, in this browser's time zone. The day is below the first time of each
 * day.
 * @param marks Unix milliseconds, increasing.
 * @param stepMs between two marks.
 */
export function timeTexts(marks: readonly number[], stepMs: number): string[] {
  if (stepMs >= 28 * dayMs) return marks.map((mark) => texts.month.format(mark));
  if (stepMs >= dayMs) return marks.map((mark) => texts.day.format(mark));
  const clock = stepMs < 60_000 ? texts.second : texts.minute;
  let before = '';
  return marks.map((mark) => {
    const day = texts.day.format(mark);
    const text = day === before ? clock.format(mark) : `${clock.format(mark)}\n${day}`;
    before = day;
    return text;
  });
}
