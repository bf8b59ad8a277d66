import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files of which one test takes minutes, as the ends of their paths. The rest of the tests run
 * beside them. A file that begins last would run alone at the end.
 */
const longest = ['test/store/postgres-differential.test.ts'];

/** In the order of Vitest, but the longest files of a group come first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const groupOf = (file: TestSpecification): number => file.project.config.sequence.groupOrder;
    const isLong = (file: TestSpecification): boolean =>
      longest.some((end) => file.moduleId.endsWith(end));
    return sorted.sort((one, other) => groupOf(one) - groupOf(other)
      || Number(isLong(other)) - Number(isLong(one)));
  }
}
