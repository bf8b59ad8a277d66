import { limits, type Slider } from './state.js';

const decades = (from: number, to: number, marks: readonly number[]): readonly number[] => {
  const powers = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  return powers.flatMap((power) => marks.map((mark) => Number(`${mark}e${power}`)));
};

const fine = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];

/** The values that a slider goes through. A field beside it accepts any other. */
export const steps: Readonly<Record<Slider, readonly number[]>> = {
  people: within('people', decades(1, 7, fine)),
  columns: [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 25, 30, 40, 50, 75, 100, 150, 200],
  epsilon: within('epsilon', decades(-2, 1, fine)),
  delta: [0, ...Array.from({ length: 10 }, (_, i) => Number(`1e-${12 - i}`))],
  hostile: Array.from({ length: 46 }, (_, i) => i / 100),
  epochs: [1, 2, 3, 4, 5, 7, 10, 12, 14, 20, 24, 30, 40, 52, 60, 90, 120, 180, 240, 365, 500, 730,
    1000, 2000, 5000, 10_000],
};

function within(name: Slider, values: readonly number[]): readonly number[] {
  const [least, most] = limits[name];
  return values.filter((value) => value >= least && value <= most);
}

/** The place of the step nearest to a value, by ratio where all are above 0. */
export function placeOf(name: Slider, value: number): number {
  const list = steps[name];
  const far = (step: number): number => (step > 0 && value > 0
    ? Math.abs(Math.log(step / value)) : step === value ? 0 : Math.abs(step - value) + 100);
  return list.reduce((best, step, i) => (far(step) < far(list[best]!) ? i : best), 0);
}
