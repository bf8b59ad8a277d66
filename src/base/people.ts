/** The public facts that say how many people an epoch takes. */
export interface PeopleFacts {
  readonly cohort: number;
  readonly epoch?: { readonly everyMs: number } | { readonly contributors: number };
  readonly peopleMax?: number;
}

/** An epoch takes so many people for each one of the cohort, unless the facts say otherwise. */
const peoplePerCohort = 16;

/** The people that an epoch awaits: `peopleMax` is never less. */
export function mostAwaited({ cohort, epoch }: PeopleFacts): number {
  return epoch !== undefined && 'contributors' in epoch
    ? Math.max(cohort, epoch.contributors) : cohort;
}

/** The value of `peopleMax` in facts without it. */
export function usualPeopleMax(facts: PeopleFacts): number {
  return peoplePerCohort * mostAwaited(facts);
}

/**
 * The greatest number of people of one epoch, a public fact. Whoever comes after them counts in a
 * later epoch. What a server plans for an epoch, its memory and the time of its release, it plans
 * for so many people, and never for those who came.
 */
export function peopleMaxOf(facts: PeopleFacts): number {
  return facts.peopleMax ?? usualPeopleMax(facts);
}
