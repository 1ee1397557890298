/** The Next.js page: installed and built by its one command, a file is uploaded and its proof verified in a browser. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { startBrowser } from '../support/clients/browser.ts';
import { copyExample, startExample } from '../support/clients/example-copy.ts';
import { findFaults } from '../support/fixtures/dashboard-fixture.ts';
import { needs } from '../support/programs/needs.ts';
import { longOnly } from '../support/service/long.ts';
import { startService } from '../support/service/service.ts';

const scratch = mkdtempSync(join(tmpdir(), 'holdfast-nextjs-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

needs('chromium').test(
  'a file goes from the page to the service, and its proof is verified in the browser',
  {
    skip: longOnly,
    timeout: 900_000,
  },
  async (t) => {
    const service = await startService({ chain: true, env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200' } });
    t.after(() => service.close());
    const folder = copyExample('nextjs-upload', scratch);
    const { running, match } = await startExample(folder, 'npm start', {
      ready: /Local:\s+(http:\S+)/,
      settings: {
        HOLDFAST_URL: service.url,
        HOLDFAST_API_KEY: service.key,
        NEXT_TELEMETRY_DISABLED: '1',
        PORT: '0',
      },
    });
    t.after(async () => {
      running.child.kill('SIGTERM');
      await running.exited;
    });
    const browser = await startBrowser();
    t.after(() => browser.close());
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 360],
    ] as const) {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 } });
      const said: string[] = [];
      page.on('console', (message) => message.type() === 'error' && said.push(message.text()));
      await page.goto(match[1] ?? '');
      const file = join(scratch, `übergabe ${width}.txt`);
      writeFileSync(file, `Handed over in good order, ${width}.`);
      await page.getByLabel('File').setInputFiles(file);
      await page.getByRole('button', { name: 'Send and verify' }).click();
      await page.getByText(/^PASS: /).waitFor({ timeout: 60_000 });
      await page.getByText('Download the proof').waitFor();
      assert.deepEqual(await findFaults(page), []);
      assert.deepEqual(said, []);
      if (process.env.HOLDFAST_TEST_SHOTS) {
        await page.screenshot({
          path: join(process.env.HOLDFAST_TEST_SHOTS, `next-${width}.png`),
          fullPage: true,
        });
      }
      assert.doesNotMatch(await page.content(), new RegExp(service.key));
      await page.close();
    }
    const { json } = await service.call('GET', '/api-v1/platform/files?name=%C3%BCbergabe%20360.txt');
    assert.equal(json.length, 1);
    const refused = await fetch(`${match[1]}/files`, { method: 'POST', body: 'x' });
    assert.equal(refused.status, 400);
  },
);
