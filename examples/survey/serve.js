// Serves this folder's page: node serve.js [PORT] [AGGREGATOR]
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const port = Number(process.argv[2] ?? 8000);
const aggregator = process.argv[3] ?? 'ws://127.0.0.1:8787';
const here = (name) => readFileSync(fileURLToPath(new URL(name, import.meta.url)));
const pages = {
  '/': ['text/html; charset=utf-8', here('index.html')],
  '/survey.css': ['text/css; charset=utf-8', here('survey.css')],
  '/survey.js': ['text/javascript; charset=utf-8', here('survey.js')],
  // In a project of your own: node_modules/@keelson/client/dist/browser/keelson-contribute.js
  '/keelson-contribute.js': [
    'text/javascript; charset=utf-8', here('../../dist/browser/keelson-contribute.js'),
  ],
  '/settings.json': ['application/json; charset=utf-8', JSON.stringify({ aggregator })],
};

/** Where the client may connect: over a WebSocket, and over HTTP where none gets through. */
const reached = `${aggregator} ${aggregator.replace(/^ws/, 'http')}`;

const server = createServer((request, response) => {
  const page = Object.hasOwn(pages, request.url) ? pages[request.url] : undefined;
  const own = "default-src 'none'; script-src 'self'; style-src 'self'";
  response.setHeader('Content-Security-Policy', `${own}; connect-src 'self' ${reached}`);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.writeHead(page === undefined ? 404 : 200, { 'Content-Type': page?.[0] ?? 'text/plain' });
  response.end(page?.[1] ?? 'not found\n');
});
server.listen(port, '127.0.0.1', () => {
  console.log(`the survey is at http://127.0.0.1:${server.address().port}`);
});
