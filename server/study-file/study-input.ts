import type { BudgetRuleName } from '../../src/base/budget-rules.js';
import type { ColumnsInput } from '../../src/base/row-types.js';
import type { EstimatorName, EstimatorParameters } from '../../src/estimators/contract/named.js';

/** A length of time, such as `30s`, `15m`, `1h` or `7d`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

/** A value that a row is tested for. */
export type TestInput = number | boolean | string;

/** The condition under which a row counts. A value alone must be equal. */
export type WhereInput = TestInput | {
  readonly is?: TestInput;
  readonly not?: TestInput;
  readonly in?: readonly TestInput[];
  readonly 'at-least'?: number;
  readonly below?: number;
  readonly present?: boolean;
};

/** Names of the columns of a study, typed by its `columns`. */
export type ColumnName<Columns extends ColumnsInput> =
  Columns extends readonly (infer Name extends string)[] ? Name : keyof Columns & string;

/** The way in which an answer is split; the keys of `by` in a study file. */
export interface ByInput<Name extends string = string> {
  readonly column?: Name;
  readonly columns?: readonly Name[];
  readonly groupsMax: number;
  readonly groups?: readonly (TestInput | readonly TestInput[])[];
  readonly discover?: boolean;
  readonly answer?: 'counts' | 'groups';
  readonly top?: number;
  readonly prefilter?: number;
  readonly remember?: number;
}

/** The parameters of an estimator; a column that one is about may be given by its name. */
export type ParametersInput<Estimator extends EstimatorName> =
  EstimatorParameters[Estimator] extends infer Own ? {
    readonly [Key in keyof Own]: Key extends 'column' ? Own[Key] | string : Own[Key]
  } : never;

/**
 * An estimator by its name, with its parameters. The range of a column may replace some of them.
 */
export type EstimatorInput = {
  [Name in EstimatorName]: {
    readonly estimator: Name; readonly parameters?: Partial<ParametersInput<Name>>;
  }
}[EstimatorName];

/** An estimator, and the columns and rows that it is asked about. */
export type QuestionInput<Name extends string = string> = EstimatorInput & {
  readonly columns?: readonly Name[];
  readonly where?: { readonly [Column in Name]?: WhereInput };
  readonly by?: ByInput<Name>;
  readonly reduce?: 'mean' | 'sum' | 'one';
  readonly part?: number;
};

/**
 * The keys of a study file, typed. [The study file](../../docs/reference/study-file.md) documents
 * the meaning, range and default of each.
 */
export type StudyInput<Columns extends ColumnsInput = ColumnsInput> = StudyFacts<Columns> & (
  | { readonly questions: Readonly<Record<string, QuestionInput<ColumnName<Columns>>>> }
  | EstimatorInput & { readonly questions?: never }
);

/** The keys of a study file besides its questions. */
export interface StudyFacts<Columns extends ColumnsInput> {
  readonly study: string;
  readonly title?: string;
  readonly description?: string;
  readonly columns: Columns;
  readonly cohort: number;
  readonly peopleMax?: number;
  readonly participation?: 'secret' | 'public';
  readonly epoch: { readonly every: Duration } | { readonly contributors: number };
  readonly contribution?: {
    readonly reduce?: 'mean' | 'sum' | 'one'; readonly rowsMax?: number;
  };
  readonly privacy: { readonly epsilon: number; readonly delta: number };
  readonly budget: {
    readonly epsilon: number;
    readonly delta: number;
    readonly rule?: BudgetRuleName;
    readonly scope?: 'study' | 'contributor';
    readonly per?: Duration;
    readonly releases?: number;
  } | { readonly population: string };
  readonly admission?: 'open'
    | { readonly contributorKeys: string | readonly string[] }
    | { readonly enrolment: { readonly issuer: string } }
    | { readonly tokens: {
      readonly issuer: string; readonly from: string; readonly per: Duration;
      readonly keys: readonly string[];
    } }
    | { readonly rate: { readonly contributorKeys: number; readonly per: Duration } };
  readonly late?: 'next' | 'drop';
  readonly retention?: 'release' | Duration;
  readonly quarantine?: { readonly beyond: number; readonly automatic?: boolean };
  readonly running?: {
    readonly separation: number; readonly questions?: readonly string[];
  };
  readonly sealed?: {
    readonly against: 'reading';
    readonly bits?: number;
    readonly range?: readonly (readonly [low: number, high: number])[];
    readonly servers: readonly {
      readonly name: string; readonly url: string; readonly key: string;
    }[];
    readonly patience?: Duration;
  };
}
