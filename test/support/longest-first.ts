import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { longestTests } from './tiers.js';

/**
 * Starts the files with tests of minutes before all others of their project. vitest starts larger
 * files first while it knows no times, and these are small: one of them would run alone at the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const placeOf = (file: TestSpecification): number => {
      const place = longestTests.findIndex((end) => file.moduleId.endsWith(end));
      return place < 0 ? longestTests.length : place;
    };
    return sorted.sort((left, right) =>
      projects.indexOf(left.project) - projects.indexOf(right.project)
        || placeOf(left) - placeOf(right));
  }
}
