/** The part of an actor that makes records: alone, many at once, further versions, and some that must be refused. */
import type { Call } from './client.ts';
import type { RecordEntry, Thing } from './journal.ts';
import type { MakerDeps } from './thing-load.ts';

export interface RecordMaker {
  /** The vaults are active, but for those that are named otherwise. */
  create(vault: Thing): Promise<void>;
  createMany(vault: Thing): Promise<void>;
  addVersion(vault: Thing): Promise<void>;
  askForTrouble(vault: Thing, inactive: Thing[]): Promise<void>;
}

/** One that is not takes nothing new. */
export function isActive({ moves }: Thing): boolean {
  return moves.at(-1) !== 'deactivate';
}

const path = '/platform/records';
const mostAtOnce = 20;

interface Answer {
  id: string;
  externalId: string;
  vaultAddress: string;
  version: number;
}

export function createRecordMaker({ asking, journal, random, newName }: MakerDeps): RecordMaker {
  const own: RecordEntry[] = [];
  const usedKeys: string[] = [];

  function newEntry(vault: Thing): RecordEntry {
    const externalId = newName('record');
    return {
      externalId,
      vault,
      id: '',
      lost: 0,
      versions: [{ data: newData(externalId), acknowledged: false }],
    };
  }

  function newData(name: string): Record<string, unknown> {
    return {
      name,
      seen: random.between(0, 1e9),
      share: random.next(),
      'ключ €': ['ä', null, { deep: true }],
    };
  }

  /** Now and then twice at the same time, as an impatient client does; both have to tell the same. */
  async function post(call: Call, entries: RecordEntry[]): Promise<Answer[]> {
    const once = () =>
      asking.expectYes(call, () => {
        for (const entry of entries) entry.lost += 1;
      });
    const answers = await Promise.all(random.chance(0.1) ? [once(), once()] : [once()]);
    const told = new Set(answers.map(({ json }) => JSON.stringify([json].flat().map((one) => one?.id))));
    if (told.size > 1)
      journal.complaints.push(`${call.path} was answered in two ways: ${[...told].join(', ')}`);
    return [answers[0]?.json].flat();
  }

  function acknowledge(entry: RecordEntry, answer: Answer | undefined): void {
    const version = entry.versions.at(-1);
    if (
      answer?.externalId !== entry.externalId ||
      answer.version !== entry.versions.length ||
      answer.vaultAddress !== entry.vault.address ||
      (entry.id !== '' && answer.id !== entry.id)
    )
      journal.complaints.push(`${entry.externalId} was acknowledged with ${JSON.stringify(answer)}`);
    entry.id = answer?.id ?? '';
    if (version) version.acknowledged = true;
  }

  return {
    async create(vault) {
      const entry = newEntry(vault);
      journal.records.push(entry);
      const { externalId, versions } = entry;
      const body = { vaultAddress: vault.address, externalId, data: versions[0]?.data };
      const headers = { 'idempotency-key': externalId };
      const [answer] = await post({ method: 'POST', path, body, headers }, [entry]);
      acknowledge(entry, answer);
      own.push(entry);
      usedKeys.push(externalId);
    },

    async createMany(vault) {
      const entries = Array.from({ length: random.between(2, mostAtOnce) }, () => newEntry(vault));
      journal.records.push(...entries);
      const records = entries.map(({ externalId, versions }) => ({ externalId, data: versions[0]?.data }));
      const call = {
        method: 'POST',
        path: `${path}/batch`,
        body: { vaultAddress: vault.address, records },
        headers: { 'idempotency-key': newName('batch') },
      };
      const answers = await post(call, entries);
      for (const [place, entry] of entries.entries()) acknowledge(entry, answers[place]);
      own.push(...entries);
    },

    async addVersion(vault) {
      const open = own.filter(({ vault }) => isActive(vault));
      if (open.length === 0) return this.create(vault);
      const entry = random.pick(open);
      const number = entry.versions.length + 1;
      const data = newData(`${entry.externalId} version ${number}`);
      entry.versions.push({ data, acknowledged: false });
      const headers = { 'idempotency-key': `${entry.externalId}-version-${number}` };
      const call = { method: 'POST', path: `${path}/${entry.id}/versions`, body: { data }, headers };
      const [answer] = await post(call, [entry]);
      acknowledge(entry, answer);
    },

    async askForTrouble(vault, inactive) {
      const externalId = newName('refused');
      const good = { externalId, data: newData(externalId) };
      const { address: vaultAddress } = vault;
      const refusals: Call[] = [
        { method: 'POST', path, body: { vaultAddress, ...good, colour: 'red' } },
        { method: 'POST', path, body: { vaultAddress: `0x${'0'.repeat(39)}1`, ...good } },
        { method: 'POST', path, body: { vaultAddress, externalId, data: 'no object' } },
        { method: 'POST', path, body: { vaultAddress, ...good }, headers: { 'x-api-key': 'hf_live_wrong' } },
        ...inactive.map(({ address }) => ({
          method: 'POST',
          path,
          body: { vaultAddress: address, ...good },
        })),
        // One that is refused takes the others with it.
        { method: 'POST', path: `${path}/batch`, body: { vaultAddress, records: [good, { externalId }] } },
        ...usedKeys.slice(-1).map((key) => ({
          method: 'POST',
          path,
          body: { vaultAddress, ...good },
          headers: { 'idempotency-key': key },
        })),
      ];
      const { outcome } = await asking.ask(random.pick(refusals));
      if (outcome === 'acknowledged') journal.complaints.push(`${externalId} should have been refused`);
      journal.refusedRecords.add(externalId);
    },
  };
}
