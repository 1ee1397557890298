/** What the rows on anchoring stand on: a service with the embedded chain, records for it, and a look at that chain. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findGateway } from '../src/chain/embedded/gateway-file.ts';
import { chainPaths } from '../src/chain/embedded/paths.ts';
import { apiBase } from '../src/http/api/api.ts';
import type { Fixture } from './fixture.ts';
import { holdfastDatabase, joinPostgres, type Postgres } from './postgres.ts';
import { keyHeaders, ownRoot, type Service, startService } from './service.ts';
import { makeVaults } from './vaults.ts';

export interface AnchoringService {
  service: Service;
  postgres: Postgres;
  /** Of its vaults. */
  addresses: string[];
  stop(): Promise<void>;
}

export const recordsPath = `${apiBase}/platform/records`;

/** From one batch to the next. */
export const anchorIntervalMs = 1_000;

const vaultCount = 16;
const longestWaitMs = 60_000;

/**
 * One of its own, with nothing else to do; the chain is there and has confirmed something. `usedDir`: a data directory
 * that was used before.
 */
export async function startAnchoringService(fixture: Fixture, usedDir?: string): Promise<AnchoringService> {
  const dataDir = usedDir ?? (await fixture.newDirectory());
  const service = await fixture.keep(() => startAnchoring(dataDir, fixture.root));
  const postgres = await fixture.keep(() => joinPostgres(dataDir));
  const anchoring = {
    service,
    postgres,
    addresses: await makeVaults(service, vaultCount),
    async stop() {
      await postgres.stop();
      await service.stop();
    },
  };
  const [first] = await createRecords(anchoring, 1);
  await waitForConfirmation(anchoring, first ?? '');
  return anchoring;
}

/** The service alone, with the key of its first start. */
export async function startAnchoring(dataDir: string, root = ownRoot): Promise<Service> {
  const settings = { HOLDFAST_ANCHOR_INTERVAL_MS: String(anchorIntervalMs) };
  const service = await startService({ root, dataDir, settings });
  const key = service.key ?? (await readFile(join(dataDir, 'first-key.txt'), 'utf8')).trim();
  return { ...service, key };
}

/** Returns their ids. More than one are created by one request. */
export async function createRecords(
  { service, addresses }: AnchoringService,
  count: number,
): Promise<string[]> {
  const vaultAddress = addresses[0];
  const batch = { vaultAddress, records: Array.from({ length: count }, (_, number) => reading(number)) };
  const answer = await fetch(service.url + recordsPath + (count === 1 ? '' : '/batch'), {
    method: 'POST',
    headers: { ...keyHeaders(service), 'content-type': 'application/json' },
    body: JSON.stringify(count === 1 ? { vaultAddress, ...reading(0) } : batch),
  });
  if (answer.status !== 202) throw new Error(`no record was created: ${await answer.text()}`);
  const made = [await answer.json()].flat() as { id: string }[];
  return made.map(({ id }) => id);
}

/** Asks again and again, as a client would; returns where it is anchored. */
export async function waitForConfirmation(
  { service }: AnchoringService,
  id: string,
): Promise<{ transactionHash: string }> {
  for (const deadline = Date.now() + longestWaitMs; ; await sleep(10)) {
    const answer = await fetch(`${service.url}${recordsPath}/${id}`, { headers: keyHeaders(service) });
    if (answer.status !== 200) throw new Error(`${id} was not found: ${await answer.text()}`);
    const { anchor } = (await answer.json()) as { anchor: { transactionHash: string } | null };
    if (anchor) return anchor;
    if (Date.now() > deadline) throw new Error(`${id} was not confirmed within ${longestWaitMs / 1000} s`);
  }
}

/** The address of the embedded chain, which answers when this is called; null while it does not. */
export async function findChain({
  service: { dataDir },
  postgres,
}: Pick<AnchoringService, 'postgres'> & { service: Pick<Service, 'dataDir'> }): Promise<string | null> {
  const [chain] = await postgres.query<{ id: string }>(holdfastDatabase, 'select chain_id as id from chain');
  return findGateway(chainPaths(dataDir, Number(chain?.id)));
}

/** What a sensor might report; 180 bytes of canonical JSON. */
export function reading(number: number): object {
  return {
    externalId: `reading-${number}`,
    data: {
      sensor: `cold-room-4/probe-${number % 8}`,
      takenAt: new Date(Date.UTC(2026, 10, 15) + number * 1000).toISOString(),
      temperatureCelsius: -18 + (number % 40) / 10,
      humidityPercent: 40 + (number % 20),
      doorOpen: number % 7 === 0,
      operator: { name: 'Ada Example', shift: 'night' },
    },
  };
}
