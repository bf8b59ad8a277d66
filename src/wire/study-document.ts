import type { ParameterValues, Participation } from '../base/facts.js';

/**
 * The public facts of a study, as sent in Welcome and hashed into its id. Canonical JSON of this
 * object, SHA-256: changed facts are a new study version with a new id.
 */
export interface StudyDocument {
  readonly version: 1;
  readonly study: string;
  readonly columns: readonly string[];
  /** Nominal contributors per epoch. */
  readonly cohort: number;
  readonly participation: Participation;
  /** `everyMs`: epochs close on time. `contributors`: on a count, public participation only. */
  readonly epoch: { readonly everyMs: number } | { readonly contributors: number };
  readonly contribution: { readonly reduce: 'mean' | 'one'; readonly rowsMax: number };
  readonly estimator: string;
  readonly parameters: ParameterValues;
  /** Of each release. */
  readonly privacy: { readonly epsilon: number; readonly delta: number };
  readonly budget: {
    readonly epsilon: number;
    readonly delta: number;
    readonly rule: 'zcdp' | 'pure' | 'renyi';
    readonly scope: 'study' | 'contributor' | 'population';
    /** Name of the shared budget; only with scope population. */
    readonly population?: string;
    /** The budget renews: a charge counts for this many milliseconds. Absent: for ever. */
    readonly perMs?: number;
  };
  /**
   * Who may contribute. `keys`: SHA-256 (hex) of the sorted enrolled keys, so that the list is pinned but not published.
   * `enrolment`: whoever has a token that the issuer (Ed25519 public key, hex) signed for its key. `rate`: anybody, but at most `keys` that are new in each `perMs`; public participation only.
   */
  readonly admission:
    | { readonly kind: 'open' }
    | { readonly kind: 'keys'; readonly digest: string }
    | { readonly kind: 'enrolment'; readonly issuer: string }
    | { readonly kind: 'rate'; readonly keys: number; readonly perMs: number };
  readonly late: 'next' | 'drop';
  /** `release`: rows are deleted once the release is stored; otherwise kept this long after it. */
  readonly retention: { readonly kind: 'release' } | { readonly kind: 'duration'; readonly keepMs: number };
  /**
   * A key whose own rows of an epoch have a mean farther than `beyond` from a published answer may be excluded from later
   * epochs. Counted in the study's scales, or in the columns' units where it has none. Absent: nobody is excluded.
   * `automatic`: every such key is, when its epoch is released; otherwise those that the operator measures.
   */
  readonly quarantine?: { readonly beyond: number; readonly automatic?: true };
}
