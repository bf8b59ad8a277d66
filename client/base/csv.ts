/** Pages write the cells of a table as the command does. */
export { csvText } from '../../src/base/shown-text.js';
