/** Printed work orders: what they say, that their codes are the links, and that the links sign. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { create } from 'qrcode';
import { codesOf } from '../support/clients/pdf-codes.ts';
import { readPdf } from '../support/clients/read-pdf.ts';
import { captured, type LaterFixture, openLaterFixture } from '../support/fixtures/later-fixture.ts';
import { licence } from '../support/fixtures/maintenance-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { makePerson } from '../support/openapi/openapi-things.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: LaterFixture;
before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openLaterFixture(service);
});
after(() => service?.close());

const codeSize = 132;
const url = (id: string) => fixture.view(`${id}/work-order/`);

interface Asked {
  workerAddress: string;
  role: string;
}

/** As bytes: a PDF is no text. */
async function print(id: string, requests: Asked[]): Promise<Buffer> {
  const response = await fetch(`${service.url}${url(id)}`, {
    method: 'POST',
    headers: { 'x-api-key': service.key, 'content-type': 'application/json' },
    body: JSON.stringify({ requests }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  assert.equal(response.status, 201, bytes.toString());
  assert.equal(response.headers.get('content-type'), 'application/pdf');
  assert.match(response.headers.get('content-disposition') ?? '', /^attachment; filename="work-order-/);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  return bytes;
}

const refused = (id: string, requests: Asked[], options: object = {}): Promise<Answer> =>
  service.call('POST', url(id), { body: { requests }, ...options });

/** The links that it shows as text; long ones are on several lines. */
function linksOf(pdf: Buffer): string[] {
  const text = readPdf(pdf).pages.flat().join('');
  return [...text.matchAll(/http:\/\/localhost:\d+\/sign\/sig_[\w-]{32}/g)].map(([link]) => link);
}

test('a work order says what the work is and who signs it, and its codes are the links', async () => {
  const performer = await fixture.passkeyWorker({ name: 'Ada Lund' });
  const certifier = await fixture.passkeyWorker({
    name: 'Bo Åkesson',
    licences: [licence('repair', 'DK.66.51')],
  });
  const { maintenanceId } = await fixture.made({ summary: 'Seal replaced, leak test passed' });
  const pdf = await print(maintenanceId, [
    { workerAddress: performer.worker, role: 'performed' },
    { workerAddress: certifier.worker, role: 'certified' },
  ]);
  const { text } = readPdf(pdf);
  for (const said of [
    `Maintenance ${maintenanceId}`,
    'Hydraulic pump',
    'Seal replaced, leak test passed',
    'Performed: Ada Lund',
    'Certified: Bo Åkesson',
    'Licence DK.66.51, for repair.',
    'valid until',
  ]) {
    assert.ok(text.includes(said), `${said} is not in ${text}`);
  }
  const links = linksOf(pdf);
  assert.equal(links.length, 2);
  const codes = codesOf(pdf, codeSize);
  assert.equal(codes.length, 2);
  for (const [place, link] of links.entries()) {
    const { modules } = create(link, { errorCorrectionLevel: 'M' });
    const expected = Array.from({ length: modules.size }, (_, row) =>
      Array.from({ length: modules.size }, (_, column) => modules.get(row, column) === 1),
    );
    assert.deepEqual(codes[place], expected, `the code of ${link} is another one`);
  }

  const [performing = '', certifying = ''] = links.map((link) => link.split('/').at(-1));
  assertError(await fixture.ask('open', { token: certifying }), 'conflict');
  for (const [token, signer] of [
    [performing, performer],
    [certifying, certifier],
  ] as const) {
    const { json: open, status, text } = await fixture.ask('open', { token });
    assert.equal(status, 200, text);
    const request = { maintenanceId, token, requestId: '', expiresAt: '', open };
    await fixture.sent(captured(request, signer));
  }
  const { rows } = await service.sql(
    `select action from audit_entries where target_id = $1 and action like '%signature' order by id`,
    [maintenanceId],
  );
  assert.deepEqual(rows, Array(2).fill({ action: 'maintenance.request_signature' }));
});

test('a newer work order replaces the codes, and says who has signed', async () => {
  const [one, two] = [await fixture.passkeyWorker(), await fixture.passkeyWorker({ name: 'Cy Berg' })];
  const { maintenanceId } = await fixture.made();
  const asked = [one, two].map(({ worker }) => ({ workerAddress: worker, role: 'performed' }));
  const [first = '', second = ''] = linksOf(await print(maintenanceId, asked));
  const token = second.split('/').at(-1) ?? '';
  const { json: open } = await fixture.ask('open', { token });
  await fixture.sent(captured({ maintenanceId, token, requestId: '', expiresAt: '', open }, two));
  const again = await print(maintenanceId, asked.slice(0, 1));
  assert.match(readPdf(again).text, /Signed so far Performed Cy Berg/);
  assert.notEqual(linksOf(again)[0], first);
  assertError(await fixture.ask('open', { token: first.split('/').at(-1) }), 'resource_not_found');
});

test('twenty codes are on several pages, each whole', async () => {
  const { maintenanceId } = await fixture.made();
  const asked: Asked[] = [];
  for (let n = 0; n < 20; n += 1) {
    const { worker } = await fixture.passkeyWorker({ name: `Worker ${n}` });
    asked.push({ workerAddress: worker, role: 'performed' });
  }
  const pdf = await print(maintenanceId, asked);
  const { pages, text } = readPdf(pdf);
  assert.equal(codesOf(pdf, codeSize).length, 20);
  assert.equal(linksOf(pdf).length, 20);
  assert.ok(pages.length >= 5 && pages.length <= 7, `${pages.length} pages`);
  assert.ok(asked.every(({ workerAddress }) => text.includes(workerAddress)));
});

test('a work order is refused as a whole, and then replaces no link', async () => {
  const { worker } = await fixture.passkeyWorker();
  const { maintenanceId } = await fixture.made();
  const asked = { workerAddress: worker, role: 'performed' };
  const [link = ''] = linksOf(await print(maintenanceId, [asked]));
  assertError(
    await refused(maintenanceId, [asked, { workerAddress: worker, role: 'certified' }]),
    'licence_required',
  );
  assertError(await refused(maintenanceId, [asked, { ...asked, workerAddress: fixture.worker }]), 'conflict');
  assertError(
    await refused(maintenanceId, [asked, { ...asked, workerAddress: worker.toLowerCase() }]),
    'invalid_request',
  );
  assertError(await refused(maintenanceId, []), 'invalid_request');
  assertError(await refused(maintenanceId, Array(21).fill(asked)), 'invalid_request');
  const viewer = await makePerson(service, 'viewer');
  assertError(await viewer.call('POST', url(maintenanceId), { body: { requests: [asked] } }), 'forbidden');
  const writer = await service.makeKey({ scopes: ['assets:write'] });
  assertError(await refused(maintenanceId, [asked], { key: writer }), 'forbidden');
  const key = await service.makeKey({ newWorkspace: true });
  assertError(await refused(maintenanceId, [asked], { key }), 'resource_not_found');
  assert.equal((await fixture.ask('open', { token: link.split('/').at(-1) })).status, 200);
});
