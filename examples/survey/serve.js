// Serves this folder's page, and an aggregator for the study that it is about:
//   node serve.js [PORT] [AGGREGATOR SERVER_KEY]
// With an address it starts no aggregator, and the page uses the one that runs there.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createAggregator, parseStudyText } from 'keelson/server';

const [port = '8000', address, serverKey] = process.argv.slice(2);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const study = parseStudyText(readFileSync(here('study.yaml'), 'utf8'), { name: 'study.yaml' });

/** An aggregator in this process, which takes rows from this page alone. */
async function startAggregator() {
  const aggregator = await createAggregator({
    dataDirectory: here('survey-data'),
    studies: [study],
    // 8787, as `keelson serve` has it, beside a page at 8000.
    port: Number(port) + 787,
    network: { allowedOrigins: [`http://127.0.0.1:${port}`, `http://localhost:${port}`] },
  });
  aggregator.failed.catch((error) => {
    console.error(`the aggregator stopped: ${error.message}`);
    process.exit(1);
  });
  process.once('SIGINT', () => void aggregator.close().then(() => process.exit(0)));
  return {
    url: aggregator.address.replace('http', 'ws'),
    key: Buffer.from(aggregator.serverKey).toString('hex'),
  };
}

const { url, key } = address === undefined
  ? await startAggregator() : { url: address, key: serverKey ?? null };
// Without a key the page shows no results, since it could not verify them.
const settings = { url, key, study: study.document.study };
const file = (type, path) => [`${type}; charset=utf-8`, readFileSync(path)];
const script = (name) => file('text/javascript', fileURLToPath(import.meta.resolve(name)));
const pages = {
  '/': file('text/html', here('index.html')),
  '/survey.css': file('text/css', here('survey.css')),
  '/survey.js': file('text/javascript', here('survey.js')),
  '/keelson-contribute.js': script('@keelson/client/contribute/browser'),
  '/keelson-contribute-rest.js': script('@keelson/client/contribute/rest'),
  '/keelson-chart.js': script('@keelson/client/chart'),
  '/settings.json': ['application/json; charset=utf-8', JSON.stringify(settings)],
};

/** Where the client may connect: over a WebSocket, and over HTTP where none gets through. */
const reached = `${url} ${url.replace(/^ws/, 'http')}`;

const site = createServer((request, response) => {
  const page = Object.hasOwn(pages, request.url) ? pages[request.url] : undefined;
  const own = "default-src 'none'; script-src 'self'; style-src 'self'";
  response.setHeader('Content-Security-Policy', `${own}; connect-src 'self' ${reached}`);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.writeHead(page === undefined ? 404 : 200, { 'Content-Type': page?.[0] ?? 'text/plain' });
  response.end(page?.[1] ?? 'not found\n');
});
site.listen(Number(port), '127.0.0.1', () => {
  console.log(`the survey is at http://127.0.0.1:${port}, and its aggregator at ${url}`);
});
