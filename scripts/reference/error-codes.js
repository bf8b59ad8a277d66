import { localCodes, retryableWireCodes, wireCodes } from '../../dist/src/base/error-codes.js';
import { errorWords } from '../../dist/src/base/error-words.js';
import { code, generated, page, plain, table } from './markdown.js';

const row = (name) => [code(name), plain(errorWords[name].cause), plain(errorWords[name].remedy)];

export function errorCodesPage() {
  return page(
    generated,
    '# Error codes',
    'Every error of Keelson has a `code` that does not change, and a message that says what '
    + 'happened, the limit and what to do. Programs use the code. The message is for people.',
    '## Answers of the server',
    'The server sends these codes to clients. *Again* means that the same bytes may be sent once '
    + 'more. The client of Keelson does so by itself.',
    table(['code', 'again', 'cause', 'remedy'], wireCodes.map((name) => {
      const [first, ...rest] = row(name);
      return [first, retryableWireCodes.has(name) ? 'yes' : 'no', ...rest];
    })),
    '## Errors of the command and the library',
    'These codes do not travel. The command prints their message, and a program catches them.',
    table(['code', 'cause', 'remedy'], localCodes.map(row)),
  );
}
