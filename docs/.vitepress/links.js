import { existsSync } from 'node:fs';
import { posix } from 'node:path';

/**
 * Links of a page to files of the repository that are not pages: sources, samples, ARCHITECTURE.md.
 * The site has no such files, so it shows the text of these links and no link.
 * @throws when the file of such a link does not exist.
 */
export function repositoryLinks(root) {
  return (markdown) => {
    markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
      for (const token of tokens.filter(({ children }) => children !== null)) {
        token.children = withoutRepositoryLinks(token.children, env.relativePath, root);
      }
    });
  };
}

function withoutRepositoryLinks(tokens, page, root) {
  let isLeaving = false;
  return tokens.filter((token) => {
    if (token.type === 'link_open') isLeaving = leaves(token.attrGet('href'), page, root);
    return !(isLeaving && ['link_open', 'link_close'].includes(token.type));
  });
}

function leaves(href, page, root) {
  if (/^([a-z]+:|#)/.test(href)) return false;
  const path = posix.join('docs', posix.dirname(page), href.split('#')[0]);
  const isPage = path.startsWith('docs/') && path.endsWith('.md');
  if (!isPage && !existsSync(root + path)) {
    throw new Error(`${page} links to ${href}, which does not exist`);
  }
  return !isPage;
}
