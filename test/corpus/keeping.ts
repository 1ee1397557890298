/** Puts holds, retention rules and archived records into a service that is to be archived. */
import assert from 'node:assert/strict';
import { holdfast, type Settings, waitUntil } from '../support/service/process.ts';
import type { Client } from './client.ts';
import type { MadePlatform } from './platform.ts';
import type { Filled } from './summary.ts';

const read = (path: string) => ({ key: 'all', path: `/api-v1/platform/${path}` });

export async function fillHolds(
  client: Client,
  { vaults, report }: Pick<MadePlatform, 'vaults' | 'report'>,
): Promise<Filled> {
  const { address: vaultAddress } = await client.post('/platform/vaults', { name: 'In litigation' });
  const { id: recordId } = await client.post('/platform/records', { vaultAddress, data: { claim: 17 } });
  const hold = (subject: object, reason: string) =>
    client.send('PUT', '/platform/holds', { ...subject, held: true, reason });
  await hold({ vaultAddress }, 'Lund v. Fjord Air');
  await hold({ recordId }, 'Lund v. Fjord Air');
  await hold({ fileId: report.id }, 'Audit – “ünïcödé” 港');
  await client.send('PUT', '/platform/holds', { recordId, held: false });

  // Longer than anybody will restore the archive.
  const ruled = { [vaults.harbour.address]: 36_500, [vaults.airline.address]: 30_000 };
  for (const [address, recordDays] of Object.entries(ruled))
    await client.send('PUT', `/platform/vaults/${address}/retention`, { recordDays, fileDays: 36_500 });
  return {
    reads: [
      read('holds?limit=1000'),
      ...Object.keys(ruled).map((address) => read(`vaults/${address}/retention`)),
      read(`records/${recordId}`),
    ],
    proofs: [],
  };
}

/** Before there are records that lists are to show: everything that is there moves into a file. */
export async function fillArchive(client: Client, settings: Settings): Promise<Filled> {
  const { address: vaultAddress } = await client.post('/platform/vaults', { name: 'Years ago' });
  const ids: string[] = [];
  for (const year of [2018, 2019, 2020]) {
    const { id } = await client.post('/platform/records', { vaultAddress, data: { year, part: 1 } });
    await client.post(`/platform/records/${id}/versions`, { data: { year, part: 2 } });
    ids.push(id);
  }
  const [kept, partly, erased] = ids;
  // Its second version is erased before it moves, and the third record afterwards.
  await client.send('DELETE', `/platform/records/${partly}/data?version=2`);
  for (let left = ids.length; left > 0; ) {
    await waitUntil(async () => (await client.get(`/platform/records/${erased}`)).status === 'finalized');
    const result = await holdfast(settings, 'archive', '--before', '0m', '--json');
    assert.equal(result.code, 0, result.stdout + result.stderr);
    left = JSON.parse(result.stdout).left;
  }
  await client.send('DELETE', `/platform/records/${erased}/data`);
  const proof = (id: string | undefined, version: number) =>
    read(`records/${id}/proof?version=${version}`).path;
  return {
    reads: ids.flatMap((id) => [
      read(`records/${id}`),
      read(`records/${id}?version=1`),
      read(`records/${id}/versions`),
    ]),
    proofs: [
      { of: 'an archived record', path: proof(kept, 2), content: JSON.stringify({ year: 2018, part: 2 }) },
      {
        of: 'an archived record without its data',
        path: proof(partly, 2),
        content: null,
      },
    ],
  };
}
