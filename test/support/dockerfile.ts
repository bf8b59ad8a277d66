import { readFileSync } from 'node:fs';
import {
  DockerfileParser, type From, type Instruction, type ModifiableInstruction,
} from 'dockerfile-ast';
import { root } from './sources.js';

/** One instruction, e.g. `COPY --from=build /image /opt/keelson`. */
export interface Step {
  readonly keyword: string;
  /** Without its flags. */
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  readonly line: number;
}

export interface BuildStage {
  readonly image: string;
  readonly name: string | null;
  readonly steps: readonly Step[];
}

/** The stages of a Dockerfile. Words in the form of JSON are taken apart. */
export function stagesOf(text: string): BuildStage[] {
  const stages: { image: string; name: string | null; steps: Step[] }[] = [];
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    if (instruction.getKeyword() === 'FROM') {
      const from = instruction as From;
      stages.push({ image: from.getImage() ?? '', name: from.getBuildStage(), steps: [] });
    } else {
      stages.at(-1)?.steps.push(stepOf(instruction));
    }
  }
  return stages;
}

function stepOf(instruction: Instruction): Step {
  const flags = 'getFlags' in instruction ? (instruction as ModifiableInstruction).getFlags() : [];
  const said = instruction.getArguments().map((each) => each.getValue()).join(' ');
  return {
    keyword: instruction.getKeyword(),
    words: said.startsWith('[') ? JSON.parse(said) as string[] : said.split(' '),
    flags: Object.fromEntries(flags.map((flag) => [flag.getName(), flag.getValue() ?? ''])),
    line: instruction.getRange().start.line + 1,
  };
}

/** The Dockerfile of the aggregator. */
export const dockerfile = `${root}deploy/container/Dockerfile`;

export const stages = (): BuildStage[] => stagesOf(readFileSync(dockerfile, 'utf8'));

/** The last instruction of a kind in a stage. @throws when there is none. */
export function lastOf(stage: BuildStage, keyword: string): Step {
  const found = stage.steps.findLast((step) => step.keyword === keyword);
  if (found === undefined) throw new Error(`the stage has no ${keyword}`);
  return found;
}
