import type { Question } from '../base/questions.js';
import type { TextTable } from '../base/text-table.js';
import { columnOf, type SentRows, type StudyColumns } from './columns.js';
import type { KeyTable } from './key-table.js';
import {
  KeptKeys, keyListOf, keyRanks, keyReaderOf, partsOfKey, type KeyList, type KeyRanks,
  type KeyReader,
} from './keys.js';
import { rowFilter, type RowFilter } from './where.js';

/** Secrets that the rows of a contributor need besides their values. */
export interface ContributorSecrets {
  /** The secret for the choice of keys, at least 16 bytes. Asked for at most once a question. */
  keySecret(): Uint8Array;
}

/** A batch of one contributor. */
export interface RankedRows extends SentRows {
  /** One number in [0, 1) for each row: `reduce: one` keeps the row with the smallest. */
  readonly ranks: Float64Array | null;
}

/** The rows of one key, reduced. */
interface KeyRows {
  readonly values: number[];
  rows: number;
  /** The rank of the row that `reduce: one` keeps. */
  rank: number;
}

/** More than the rank of any row. */
const aboveRanks = 2;

/** A question without columns: its rows contribute nothing but their key. */
const noRows: KeyRows = { values: [], rows: 0, rank: 0 };
/** A key that does not count. */
const refused: KeyRows = { values: [], rows: 0, rank: 0 };
/** In place of a column: all rows have one key, or no column says by a number which key it is. */
const [oneKey, noNumber] = [-1, -2];

/** The rank of the one key of a question that is not split: there is no other to compare with. */
const noRank = (): number => 0;

/** A key of a public list is its place. A key that nobody listed is a text. */
type Key = number | string;

/** One contributor's rows for one question, reduced as they come. */
export class QuestionRows extends KeptKeys<KeyRows, Key> {
  /** @param next - of the same contributor for the next question; null after the last one. */
  constructor(groupsMax: number, readonly next: QuestionRows | null) {
    super(groupsMax);
  }
}

/**
 * How a contributor's rows become the rows that a question's estimator sees: `where`, then the
 * split by key, then at most `groupsMax` keys, then the reduction within each key.
 *
 * Every step looks at the rows of one contributor alone. So a neighbour, in whom one contributor's
 * rows are replaced by anything, changes the estimator's rows of that contributor only: at most one
 * row, or with `by` at most `groupsMax` rows of different keys. `where` comes before the reduction
 * and cannot add rows. This is what plans charge for.
 */
export class QuestionReduction {
  /** The public keys; null where the question is not split, or its keys are discovered. */
  readonly keys: KeyList | null;
  /** Entries of a row that the estimator sees. */
  readonly dimension: number;
  /** True if rows need ranks. */
  readonly needsRanks: boolean;
  readonly #filter: RowFilter;
  /** The reader of discovered keys; null where keys are not discovered. */
  readonly #reader: KeyReader | null;
  /** The place of the text that is the key; null where a key is something else. */
  readonly #textPlace: number | null;
  readonly #places: readonly number[];
  /** True if a row ends with the number of its contributor's keys. */
  readonly #isOfKeys: boolean;
  /** True if every row without an absent cell is added to the same sums. */
  readonly #isPlain: boolean;

  /** @throws InvalidParameterError when the question does not fit the columns. */
  constructor(private readonly question: Question, study: StudyColumns) {
    const { where, by, columns, reduce } = question;
    this.#filter = rowFilter(where, study);
    this.#places = columns.map((name) => columnOf(study, name).place);
    const isDiscovered = by?.discover !== undefined;
    this.keys = by === undefined || isDiscovered ? null : keyListOf(by, study);
    this.#reader = isDiscovered ? keyReaderOf(by, study) : null;
    const parts = (by?.columns ?? []).map((name) => columnOf(study, name));
    this.#textPlace = parts.length === 1 && parts[0]!.isText ? parts[0]!.place : null;
    this.#isOfKeys = by?.discover?.answer === 'groups';
    this.dimension = by === undefined ? Math.max(1, columns.length)
      : 1 + columns.length + Number(this.#isOfKeys);
    this.needsRanks = reduce === 'one' && columns.length > 0;
    this.#isPlain =
      where.length === 0 && by === undefined && columns.length > 0 && !this.needsRanks;
  }

  empty(next: QuestionRows | null): QuestionRows {
    return new QuestionRows(this.question.by?.groupsMax ?? 1, next);
  }

  /**
   * Adds a batch; `columns` is the study's number of them.
   *
   * A key's rows are looked up once for a batch, where a number of the batch says which key it is.
   * A later row of the batch may push the key out. What is added to it then counts nowhere, as a
   * key that left never comes back (KeptKeys).
   */
  add(
    into: QuestionRows, sent: RankedRows, columns: number, secrets: ContributorSecrets,
  ): void {
    if (this.#isPlain && this.#addWhole(into, sent, columns)) return;
    const ranks = this.#ranking(secrets);
    const { values } = sent;
    const place = this.#numberedBy(sent);
    const known = new Array<KeyRows | undefined>(this.#numbersIn(sent, place));
    for (let row = 0; row < sent.rows; row++) {
      const start = row * columns;
      if (!this.#filter(sent, start) || this.#lacksValue(values, start)) continue;
      // NaN where the cell is absent.
      const number = place === oneKey ? 0 : values[start + place]!;
      let held = place === noNumber ? undefined : known[number];
      if (held === undefined && this.#isRefused(into, sent, number, place, ranks)) {
        held = known[number] = refused;
      }
      if (held === undefined) {
        const key = this.#keyOf(sent, start);
        if (key === null) continue;
        held = into.at(key, ranks.ofKey, this.#emptyRows) ?? refused;
        if (place !== noNumber) known[number] = held;
      }
      if (held === refused || held === noRows) continue;
      held.rows += 1;
      if (!this.needsRanks) this.#addTo(held.values, values, start);
      else if (sent.ranks![row]! < held.rank) {
        held.rank = sent.ranks![row]!;
        this.#places.forEach((from, i) => { held.values[i] = values[start + from]!; });
      }
    }
  }

  /**
   * Adds a batch in which every row counts, in the same order and to the same sums as one row after
   * the other. False, and nothing is added, if a cell is absent: its NaN has then reached a sum.
   */
  #addWhole(into: QuestionRows, { values, rows }: RankedRows, columns: number): boolean {
    if (rows === 0) return true;
    const places = this.#places;
    const held = into.size === 0 ? this.#emptyRows() : into.at(0, noRank, this.#emptyRows)!;
    const sums = Float64Array.from(held.values);
    for (let start = 0; start < rows * columns; start += columns) {
      for (let i = 0; i < places.length; i++) sums[i]! += values[start + places[i]!]!;
    }
    if (sums.some(Number.isNaN)) return false;
    for (let i = 0; i < sums.length; i++) held.values[i] = sums[i]!;
    held.rows += rows;
    into.at(0, noRank, () => held);
    return true;
  }

  /**
   * True if the bytes of a text tell that its key does not count. Most keys of a contributor that
   * has many end here, so they are never decoded.
   */
  #isRefused(
    into: QuestionRows, { texts }: SentRows, number: number, place: number, ranks: Ranking,
  ): boolean {
    if (this.#reader === null || place < 0 || Number.isNaN(number)) return false;
    const largest = into.largestRank(ranks.ofKey);
    return largest < Infinity && ranks.ofText(texts![place] as TextTable, number) > largest;
  }

  /** The column whose numbers say which key of a batch a row has; else why there is none. */
  #numberedBy({ texts }: SentRows): number {
    if (this.question.by === undefined) return oneKey;
    if (this.#textPlace === null) return noNumber;
    const table = texts![this.#textPlace]!;
    // The texts of a whole file are a list, and their numbers are large.
    return 'bytes' in table ? this.#textPlace : noNumber;
  }

  /** How many numbers of a batch may say which key a row has. */
  #numbersIn({ texts }: SentRows, place: number): number {
    return place < 0 ? Number(place === oneKey) : (texts![place] as TextTable).count;
  }

  /**
   * The contributor's rows for the estimator, in the order of their keys; none if no row counts.
   * @param table - gives discovered keys their places. Only keys that count come into it: at most
   *   `groupsMax` of the contributor.
   * @throws WireError `overloaded` if the table is full, which the caller has to prevent.
   */
  rowsOf(rows: QuestionRows, table: KeyTable | null = null): readonly Float64Array[] {
    const isMean = this.question.reduce === 'mean';
    const entries = [...rows.entries()].sort(([left], [right]) => (left < right ? -1 : 1));
    return entries.map(([key, { values, rows: count }]) => {
      const place = typeof key === 'number' ? key : table!.placeOf(this.#partsOf(key));
      const reduced = isMean ? values.map((sum) => sum / count) : values;
      if (this.#isOfKeys) return Float64Array.of(place, ...reduced, entries.length);
      if (this.question.by !== undefined) return Float64Array.of(place, ...reduced);
      return reduced.length === 0 ? new Float64Array(1) : Float64Array.from(reduced);
    });
  }

  #lacksValue(values: Float64Array, start: number): boolean {
    for (const place of this.#places) if (Number.isNaN(values[start + place]!)) return true;
    return false;
  }

  /** The key of a row; null if the row does not count. */
  #keyOf(sent: SentRows, start: number): Key | null {
    if (this.#reader !== null) return this.#reader(sent, start);
    if (this.keys === null) return 0;
    const place = this.keys.placeOf(sent, start);
    return place < 0 ? null : place;
  }

  readonly #emptyRows = (): KeyRows => (this.#places.length === 0 ? noRows
    : { values: this.#places.map(() => 0), rows: 0, rank: aboveRanks });

  #partsOf(key: string): readonly string[] {
    return partsOfKey(key, this.question.by!.columns.length);
  }

  /** Adds the values of one row. Sums are finite: see `valueMax`. */
  #addTo(sums: number[], values: Float64Array, start: number): void {
    const places = this.#places;
    for (let i = 0; i < places.length; i++) sums[i]! += values[start + places[i]!]!;
  }

  /** The rank of each key of one batch is computed once. */
  #ranking(secrets: ContributorSecrets): Ranking {
    let seeded: KeyRanks | null = null;
    const ranks = (): KeyRanks =>
      seeded ??= keyRanks(secrets.keySecret(), this.question.by!.columns);
    let known: Map<Key, number> | null = null;
    return {
      ofKey: (key) => {
        known ??= new Map();
        const earlier = known.get(key);
        if (earlier !== undefined) return earlier;
        const parts = typeof key === 'number' ? this.keys!.names[key]! : this.#partsOf(key);
        const rank = ranks().of(parts);
        known.set(key, rank);
        return rank;
      },
      ofText: (texts, place) => ranks().ofText(texts, place),
    };
  }
}

/** The ranks of one contributor's keys while a batch is added. */
interface Ranking {
  readonly ofKey: (key: Key) => number;
  readonly ofText: (texts: TextTable, place: number) => number;
}

/**
 * One contributor's rows for all questions of a study: those for the first, which lead to the next.
 * A list of them would take more memory, and there may be millions of contributors.
 */
export type Contribution = QuestionRows;

/** The reductions of all questions of a study. */
export class StudyReduction {
  readonly questions: readonly QuestionReduction[];
  /** True if batches need ranks of their rows. */
  readonly needsRanks: boolean;
  readonly #columns: number;

  /** @throws InvalidParameterError when a question does not fit the columns. */
  constructor(questions: readonly Question[], study: StudyColumns) {
    this.questions = questions.map((question) => new QuestionReduction(question, study));
    this.needsRanks = this.questions.some((question) => question.needsRanks);
    this.#columns = study.columns.length;
  }

  empty(): Contribution {
    return this.questions.reduceRight<QuestionRows | null>(
      (next, question) => question.empty(next), null,
    )!;
  }

  /** Adds one batch of the contributor. Time: rows times questions. */
  add(into: Contribution, sent: RankedRows, secrets: ContributorSecrets): void {
    let own: QuestionRows | null = into;
    for (const question of this.questions) {
      question.add(own!, sent, this.#columns, secrets);
      own = own!.next;
    }
  }

  /** For each question, whether the contributor had more keys than count for one. */
  cutsOf(contribution: Contribution): readonly boolean[] {
    let own: QuestionRows | null = contribution;
    return this.questions.map(() => {
      const { isCut } = own!;
      own = own!.next;
      return isCut;
    });
  }

  /**
   * The rows that each question's estimator sees of the contributor.
   * @param tables - for each question the table of its discovered keys, as QuestionsRun has them.
   */
  rowsOf(
    contribution: Contribution, tables: readonly (KeyTable | null)[] = [],
  ): readonly (readonly Float64Array[])[] {
    let own: QuestionRows | null = contribution;
    return this.questions.map((question, i) => {
      const rows = question.rowsOf(own!, tables[i]);
      own = own!.next;
      return rows;
    });
  }
}

/** The bytes of the heap that one contributor takes until its contribution is complete. */
const bytesOfContributor = 128;
const bytesOfQuestion = 400;
const bytesOfKey = 170;
const bytesOfSums = 130;
const bytesOfSum = 10;
/** A text has a byte for a character, or two. As JSON, each byte of it may be two characters. */
const [bytesInText, bytesInJson] = [2, 4];

/** A question, and what a key of it may take in bytes of UTF-8, unless its keys are listed. */
export interface ReducedQuestion {
  readonly question: Pick<Question, 'columns' | 'by'>;
  readonly discovered?: { readonly keyBytes: number };
}

/**
 * The most memory that the rows of one contributor take until the contribution is complete, in
 * bytes, whatever it sends. It depends on public facts only. The parts are measured: a test holds
 * contributions of the largest kinds against it.
 * @param rowsMax - the most rows of a contributor. Each has one key for each question.
 */
export function contributionBytes(
  questions: readonly ReducedQuestion[], rowsMax: number,
): number {
  return questions.reduce((sum, { question: { columns, by }, discovered }) => {
    const keys = Math.min(by?.groupsMax ?? 1, rowsMax);
    const sums = columns.length === 0 ? 0 : bytesOfSums + bytesOfSum * columns.length;
    const perByte = (by?.columns.length ?? 0) > 1 ? bytesInJson : bytesInText;
    const key = bytesOfKey + sums + perByte * (discovered?.keyBytes ?? 0);
    return sum + bytesOfQuestion + keys * key;
  }, bytesOfContributor);
}
