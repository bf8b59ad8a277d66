// Blanks the comments of compiled JavaScript. The declarations beside it keep theirs, and editors
// read those. Without these comments the package is a tenth smaller. Lines keep their numbers, so
// source maps stay right.
import ts from 'typescript';

/**
 * The text without its comments. Marks for bundlers stay, and so do comments at the end of a block.
 */
export function withoutComments(text) {
  const comments = new Map();
  const visit = (node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) {
      if (!text.slice(pos, end).includes('@__PURE__')) comments.set(pos, end);
    }
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(ts.createSourceFile('module.js', text, ts.ScriptTarget.Latest), visit);
  let blank = '';
  let at = 0;
  for (const [pos, end] of [...comments].sort(([a], [b]) => a - b)) {
    blank += text.slice(at, pos) + text.slice(pos, end).replace(/[^\n]+/g, '');
    at = end;
  }
  return blank + text.slice(at);
}
