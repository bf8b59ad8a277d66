type Row = Readonly<Record<string, string | number | boolean | null>>;

export const tables: Readonly<Record<string, {
  readonly of: string; readonly from: string; rows(): readonly Row[];
}>>;
export function cohortOf(
  rows: readonly Row[], people: number, random: { uniform(): number },
): readonly Row[];
