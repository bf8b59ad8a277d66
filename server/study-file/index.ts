/** Study files: YAML in, studies that can run out. */
export { parsePopulationsText, type Population, type Populations } from './populations.js';
export { parseStudyText, type StudyTextOptions } from './parse.js';
export { digestOfKeys, parseKeyList } from './enrolled-keys.js';
