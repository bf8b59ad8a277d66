/** Reads study files: YAML becomes studies that can run. */
export { parsePopulationsText, type Population, type Populations } from './populations.js';
export { parseStudyText, study, type StudyTextOptions } from './parse.js';
export { digestOfKeys, parseKeyList } from './enrolled-keys.js';
export { rewriteStudyText } from './rewritten.js';
