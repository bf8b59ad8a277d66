// Serves this folder's page: node serve.js SERVER_KEY [PORT] [AGGREGATOR]
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [key, port = '8000', aggregator = 'http://127.0.0.1:8787'] = process.argv.slice(2);
if (!/^[0-9a-f]{64}$/.test(key ?? '')) {
  console.error('give the server key that "keelson serve" prints: node serve.js SERVER_KEY');
  process.exit(2);
}
const here = (name) => readFileSync(fileURLToPath(new URL(name, import.meta.url)));
const page = here('index.html').toString()
  .replace('AGGREGATOR', new URL(aggregator).origin).replace('SERVER KEY', key);
const pages = {
  '/': ['text/html; charset=utf-8', page],
  '/page.css': ['text/css; charset=utf-8', here('page.css')],
  // In a project of your own: node_modules/keelson/dist/browser/keelson-chart.js
  '/keelson-chart.js': [
    'text/javascript; charset=utf-8', here('../../dist/browser/keelson-chart.js'),
  ],
};
/** Where the chart may connect: over a WebSocket, and over HTTP where none gets through. */
const reached = `${aggregator} ${aggregator.replace(/^http/, 'ws')}`;

const server = createServer((request, response) => {
  const found = Object.hasOwn(pages, request.url) ? pages[request.url] : undefined;
  const own = "default-src 'none'; script-src 'self'; style-src 'self'";
  response.setHeader('Content-Security-Policy', `${own}; connect-src ${reached}`);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  const [type, body] = found ?? ['text/plain', 'not found\n'];
  response.writeHead(found === undefined ? 404 : 200, { 'Content-Type': type });
  response.end(body);
});
server.listen(Number(port), '127.0.0.1', () => {
  console.log(`the page is at http://127.0.0.1:${server.address().port}`);
});
