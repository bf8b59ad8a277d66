import type { StudyView } from './contract.js';
import type { StudyDefinition } from './definition.js';

/** A study's identity: its facts as signed bytes. */
export interface StudyIdentity {
  readonly studyId: string;
  readonly facts: Uint8Array;
  readonly factsSignature: Uint8Array;
}

type Changing = Pick<StudyView, 'state' | 'epoch' | 'closesAtMs' | 'releaseCount' | 'boxKeys'>;

/** The newest view of a study. It is made again only when something in it has changed. */
export class LatestView {
  #view: StudyView | undefined;

  constructor(
    private readonly definition: StudyDefinition, private readonly identity: StudyIdentity,
  ) {}

  of(now: Changing): StudyView {
    const last = this.#view;
    if (last !== undefined && last.state === now.state && last.epoch === now.epoch
      && last.closesAtMs === now.closesAtMs && last.releaseCount === now.releaseCount
      && last.boxKeys === now.boxKeys) return last;
    const { document, budget, charge } = this.definition;
    const { studyId, facts, factsSignature } = this.identity;
    this.#view = {
      studyId, facts, factsSignature, name: document.study, document, ...now,
      budget: budget.key, charge,
    };
    return this.#view;
  }
}
