/* global document */
// The survey of examples/: its form, and its text once the answer has arrived.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

/**
 * @param stage tools for this part of the pictures: `keelson`, `newPage`, `take`, `port`,
 *   `scratch`, `root`, `running`.
 */
export async function ofSurvey({ keelson, newPage, until, take, port, scratch, root, running }) {
  const site = `http://127.0.0.1:${port + 1}`;
  const [, serverKey] = await keelson(
    [
      'serve', join(root, 'examples/survey/study.yaml'), '--data', join(scratch, 'survey'),
      '--port', String(port),
        '--allow-origin', site, '--log-level', 'error', '--json',
    ], /"serverKey":"([0-9a-f]{64})"/);
  const words = [
    join(root, 'examples/survey/serve.js'), String(port + 1), `ws://127.0.0.1:${port}`, serverKey,
  ];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  await new Promise((ready) => child.stdout.once('data', ready));
  const page = await newPage();
  await page.goto(site);
  await page.waitForSelector('form');
  await take(page, 'survey');
  await page.click('form button');
  await until(page, () => document.body.textContent.includes('answers are in'));
  await take(page, 'survey-sent');
  await page.close();
}
