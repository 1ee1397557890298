/** A timestamp authority and an OpenTimestamps calendar for a service that is to be archived. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startPublishingServer } from '../support/fixtures/clocks-fixture.ts';
import { startCalendar } from '../support/opentimestamps/calendar-server.ts';
import { type Settings, waitUntil } from '../support/service/process.ts';
import { pem } from '../support/timestamps/test-authority.ts';
import type { Client } from './client.ts';
import type { Filled } from './summary.ts';

export interface Clocks {
  settings: Settings;
  /** In PEM. */
  root: string;
  /** What the calendar has got so far is in a block: a service that starts now learns of it. */
  mine(): void;
  close(): Promise<void>;
}

/** Of Bitcoin, in November 2026. */
const height = 975_000;

type Query = (text: string) => Promise<{ rowCount: number | null }>;

export async function startClocks(dir: string): Promise<Clocks> {
  const authority = await startPublishingServer();
  authority.files.set('/tsa-ca.crl', authority.authority.crl('intermediate'));
  authority.files.set('/root.crl', authority.authority.crl('root'));
  const root = pem(authority.authority.root.certificate);
  const rootsFile = join(dir, 'roots.pem');
  await writeFile(rootsFile, root);
  const calendar = await startCalendar();
  return {
    root,
    settings: {
      HOLDFAST_TSA_URLS: authority.url,
      HOLDFAST_TSA_ROOTS: rootsFile,
      HOLDFAST_TSA_MAX_PER_HOUR: '3600',
      HOLDFAST_OTS_CALENDARS: calendar.url,
    },
    mine: () => void calendar.mine({ height, time: Date.now() }),
    async close() {
      await authority.close();
      await calendar.close();
    },
  };
}

/** The only record in the first batch, which the calendar gets; a record that is made later may be in any. */
export async function fillTimed(client: Client, query: Query): Promise<Filled> {
  const { address: vaultAddress } = await client.post('/platform/vaults', { name: 'Timed' });
  const data = { first: 'of all' };
  const { id } = await client.post('/platform/records', { vaultAddress, data });
  await waitUntil(
    async () => (await query("select 1 from timestamps where kind = 'opentimestamps'")).rowCount === 1,
    60_000,
  );
  const path = `/api-v1/platform/records/${id}/proof`;
  return { reads: [], proofs: [{ of: 'the first record', path, content: JSON.stringify(data) }] };
}
