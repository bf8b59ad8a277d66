import { describe, expect, it } from 'vitest';
import { root } from '../support/sources.js';

const { withoutComments } = await import(`${root}scripts/blank-comments.js`) as {
  readonly withoutComments: (text: string) => string;
};

describe('the comments of compiled modules', () => {
  it('go, and every line keeps its number', () => {
    const text = '/** What it is.\n * @param x a number */\nexport const f = (x) => {\n'
      + '    // Why.\n    return x;\n};\n';
    expect(withoutComments(text))
      .toBe('\n\nexport const f = (x) => {\n    \n    return x;\n};\n');
  });

  it('stay where they are part of a text, or a mark for bundlers', () => {
    const text = "const a = '// no';\nconst b = `\n/* no */ ${ /x\\/\\//.source }`;\n"
      + 'const c = /* @__PURE__ */ f();\n';
    expect(withoutComments(text)).toBe(text);
  });
});
