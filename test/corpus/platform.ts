/** Puts vaults, records, files, transfers and validations into a service that is to be archived. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { waitUntil } from '../support/service/process.ts';
import type { Client, Json } from './client.ts';
import type { FileRead, Filled } from './summary.ts';

export interface MadePlatform extends Filled {
  vaults: { harbour: Json; airline: Json; closed: Json; reopened: Json };
  files: Omit<FileRead, 'sha256'>[];
  /** A file with content, for entries to attach. */
  report: Json;
}

const report = 'Flow 412 l/h at 5,000 rpm. Leakage none. PASSED.\n';
const manual = 'Torque the four bolts crosswise.\n';

export async function fillPlatform(client: Client): Promise<MadePlatform> {
  const vault = (name: string, description = '') => client.post('/platform/vaults', { name, description });
  const harbour = await vault('Harbour', 'The first one');
  const airline = await vault('Fjord Air');
  const closed = await vault('Closed');
  const reopened = await vault('Reopened');
  await client.send('PUT', `/platform/vaults/${harbour.address}`, { description: 'Renamed – “ünïcödé” 港' });
  await client.send('PATCH', `/platform/vaults/${reopened.address}/deactivate`);
  await client.send('PATCH', `/platform/vaults/${reopened.address}/reactivate`);
  const vaults = { harbour, airline, closed, reopened };

  const records = await fillRecords(client, vaults);
  const files = await fillFiles(client, vaults);
  // Last, because it takes nothing new from now on.
  await client.send('PATCH', `/platform/vaults/${closed.address}/deactivate`);

  const list = (path: string) => ({ key: 'all', path: `/api-v1/platform/${path}` });
  return {
    vaults,
    report: files.report,
    reads: [
      list('vaults?limit=1000'),
      list('vaults?status=inactive'),
      { ...list(`vaults/${harbour.address}/transactions`), body: { initialDate: '2020-01-01', limit: 100 } },
      ...records.reads,
      ...files.reads,
    ],
    files: files.contents,
    proofs: [...records.proofs, ...files.proofs],
  };
}

async function fillRecords(client: Client, { harbour, airline, closed }: MadePlatform['vaults']) {
  const data = (number: number) => ({
    number,
    text: 'A “quoted” line\nwith 港, é and \u0001',
    amount: 1e-7,
    nested: { list: [1, true, null, { deep: [] }], empty: {} },
  });
  const record = await client.post(
    '/platform/records',
    { vaultAddress: harbour.address, data: data(1), externalId: 'invoice-1' },
    { 'idempotency-key': 'the-first-record' },
  );
  const path = `/platform/records/${record.id}`;
  await client.post(`${path}/versions`, { data: data(2) });
  await client.post(`${path}/versions`, { data: data(3) });
  const batch = await client.post('/platform/records/batch', {
    vaultAddress: airline.address,
    records: [{ data: data(4) }, { data: {}, externalId: 'empty' }, { data: data(5) }],
  });
  await client.post('/platform/records', { vaultAddress: closed.address, data: data(6) });

  const read = (path: string) => ({ key: 'all', path: `/api-v1/platform/records${path}` });
  return {
    reads: [
      read('?limit=1000'),
      { ...read('?limit=1000'), key: 'recordsOnly' },
      read('?externalId=invoice-1'),
      read(`/${record.id}`),
      read(`/${record.id}?version=1`),
      read(`/${record.id}/versions`),
      read(`/${batch[1].id}`),
    ],
    proofs: [1, 2, 3].map((version) => ({
      of: `version ${version} of a record`,
      path: `/api-v1${path}/proof?version=${version}`,
      content: JSON.stringify(data(version)),
    })),
  };
}

async function fillFiles(client: Client, { harbour, airline, closed, reopened }: MadePlatform['vaults']) {
  const into = (vault: Json, more: Record<string, string> = {}) => ({ vaultAddress: vault.address, ...more });
  const uploaded = await client.upload('/platform/files', into(harbour, { expirationDate: '2199-12-31' }), {
    name: 'bench-test.txt',
    text: report,
  });
  const revised = { name: 'bench-test-2.txt', text: report + manual };
  await client.upload(`/platform/files/${uploaded.id}/versions`, {}, revised);
  // A third version that gives only its hash.
  await client.post(`/platform/files/${uploaded.id}/versions`, { contentHash: sha256('never sent') });

  const soon = new Date(Date.now() + 2_000).toISOString();
  const expiring = await client.upload('/platform/files', into(harbour, { expirationDate: soon }), {
    name: 'offer – “gültig” bis gleich.txt',
    text: 'Valid for two seconds.\n',
  });
  const erased = await client.upload('/platform/files', into(reopened), {
    name: 'erased.txt',
    text: 'secret',
  });
  const rest = { name: 'rest.txt', text: 'what stays' };
  await client.upload(`/platform/files/${erased.id}/versions`, {}, rest);
  await client.send('DELETE', `/platform/files/${erased.id}/content?version=1`);
  const salted = createHmac('sha256', randomBytes(32)).update('guessable').digest('hex');
  await client.post('/platform/files', {
    vaultAddress: airline.address,
    name: 'salted.txt',
    contentHash: `0x${salted}`,
    canonicalization: 'hmac-sha256',
  });
  const given = await client.upload('/platform/files', into(closed), { name: 'given.txt', text: manual });
  await transfer(client, given.id, airline);
  await transfer(client, given.id, harbour);

  const validate = (body: object) => client.post(`/platform/files/${uploaded.id}/validate`, body);
  await client.upload(
    `/platform/files/${uploaded.id}/validate`,
    { version: '1' },
    { name: 'x', text: report },
  );
  await validate({ contentHash: sha256('something else'), version: 1 });
  const foreign = await validate({ contentHash: sha256(report), version: 1, vaultAddress: airline.address });
  await waitUntil(async () => (await client.get(`/platform/files/${expiring.id}`)).expired === true);

  const all = [uploaded, expiring, erased, given];
  const read = (path: string) => ({ key: 'all', path: `/api-v1/platform/files${path}` });
  return {
    report: uploaded,
    reads: [
      read('?limit=1000'),
      read(`?vaultAddress=${airline.address}`),
      ...all.map(({ id }) => read(`/${id}/versions`)),
      ...all.map(({ id }) => read(`/${id}/history`)),
      read(`/${uploaded.id}/validations`),
      read(`/${uploaded.id}/validations/${foreign.id}`),
    ],
    contents: [
      { key: 'all', fileId: uploaded.id, version: 1 },
      { key: 'all', fileId: uploaded.id, version: 2 },
      { key: 'all', fileId: uploaded.id, version: 3 },
      { key: 'all', fileId: expiring.id, version: 1 },
      { key: 'all', fileId: erased.id, version: 1 },
      { key: 'all', fileId: erased.id, version: 2 },
      { key: 'all', fileId: given.id, version: 1 },
    ],
    proofs: [
      { of: 'a file', path: read(`/${uploaded.id}/proof?version=1`).path, content: report },
      { of: 'erased content', path: read(`/${erased.id}/proof?version=1`).path, content: 'secret' },
      {
        of: 'a validation',
        path: read(`/${uploaded.id}/validations/${foreign.id}/proof`).path,
        content: null,
      },
    ],
  };
}

async function transfer(client: Client, fileId: string, { address }: Json): Promise<void> {
  await client.post(`/platform/files/${fileId}/transfer`, { destinationVaultAddress: address });
  await waitUntil(async () => (await client.get(`/platform/files/${fileId}`)).vaultAddress === address);
}

function sha256(text: string): string {
  return `0x${createHash('sha256').update(text).digest('hex')}`;
}
