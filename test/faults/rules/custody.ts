/** Every transfer and validation that was acknowledged happened, once, with the right outcome; and the histories say so. */
import { verifyHistory } from '../../../src/proof/verify/history.ts';
import { oraclePatienceMs } from '../client.ts';
import { bytesOf } from '../content.ts';
import { filesPath } from '../file-load.ts';
import type { Fixture } from '../fixture.ts';
import type { FileEntry, ValidationEntry } from '../journal.ts';
import type { Rule } from '../rule.ts';
import { expectNone } from '../violation.ts';

interface TransferRow {
  id: string;
  file_id: string;
  completed: boolean;
  taker: string;
  /** Who has the file now. */
  owner: string;
}

export const transfersAreComplete: Rule = {
  name: 'every transfer acknowledged is completed, no other is there, and the last taker owns the file',
  when: 'restart',
  needsChain: true,
  async check({ store, journal }) {
    const rows = await store.query<TransferRow>(
      `select t.id, t.subject_id as file_id, t.completed_at is not null as completed, v.address as taker, o.address as owner
       from transfers t
       join files f on f.workspace_id = t.workspace_id and f.id = t.subject_id
       join vaults v on v.workspace_id = t.workspace_id and v.id = t.to_vault_id
       join vaults o on o.workspace_id = t.workspace_id and o.id = f.vault_id order by t.subject_id, t.number`,
    );
    const stored = Map.groupBy(rows, ({ file_id }) => file_id);
    expectNone(
      'files whose transfers are not those that were acknowledged',
      journal.files
        .map(({ id, transfers }) => ({ id, transfers, found: stored.get(id) ?? [] }))
        .filter(
          ({ transfers, found }) =>
            found.length !== transfers.length ||
            found.some(
              (row) =>
                !row.completed ||
                !transfers.some(({ id, to }) => id === row.id && to.address === row.taker) ||
                row.owner !== found.at(-1)?.taker,
            ),
        ),
    );
  },
};

interface ValidationRow {
  id: string;
  file_id: string;
  file_version: number;
  result: string | null;
  integrity: boolean;
  authenticity: boolean;
  ownership: boolean;
  events: number;
}

export const validationsHaveOneResult: Rule = {
  name: 'every validation acknowledged has one result, the right one, and one event',
  when: 'restart',
  needsChain: true,
  async check({ store, journal }) {
    const rows = await store.query<ValidationRow>(
      `select o.id, o.file_id, o.file_version, o.result, o.integrity, o.authenticity, o.ownership,
         coalesce(e.count, 0)::integer as events
       from file_validations o
       left join (
         select envelope::json -> 'data' ->> 'validation_id' as id, count(*) from events
         where type = 'file.validation.completed' group by 1
       ) as e on e.id = o.id`,
    );
    const stored = new Map(rows.map((row) => [row.id, row]));
    const asked = journal.files.flatMap((entry) => entry.validations.map((one) => ({ entry, one })));
    expectNone(
      'validations without exactly one result and one event, or with a wrong result',
      asked
        .map(({ entry, one }) => ({ entry, one, found: stored.get(one.id) }))
        .filter(({ entry, one, found }) => !found || !isRight(entry, one, found)),
    );
    const known = new Set(asked.map(({ one }) => one.id));
    expectNone(
      'validations that nobody asked for',
      rows.filter(({ id }) => !known.has(id)),
    );
  },
};

function isRight(entry: FileEntry, asked: ValidationEntry, found: ValidationRow): boolean {
  const ownership = expectedOwnership(entry, asked);
  const valid = found.integrity && found.authenticity && found.ownership;
  return (
    found.file_id === entry.id &&
    found.file_version === asked.version &&
    found.result === (valid ? 'valid' : 'invalid') &&
    found.integrity === asked.integrity &&
    found.authenticity &&
    (ownership === null || found.ownership === ownership) &&
    found.events === 1
  );
}

/** Null where it depends on whether a transfer was completed before or after. */
function expectedOwnership({ versions, transfers }: FileEntry, { vault }: ValidationEntry): boolean | null {
  if (transfers.length === 0) return vault === null || vault === versions[0]?.vault;
  const everOwned =
    vault === null || vault === versions[0]?.vault || transfers.some(({ to }) => to === vault);
  return everOwned ? null : false;
}

const atOnce = 4;

export const everyHistoryHolds: Rule = {
  name: 'the history of every file verifies as one chain of custody, with every version and transfer in it',
  when: 'end',
  needsChain: true,
  async check(fixture) {
    const wrong: unknown[] = [];
    const queue = fixture.journal.files.values();
    let proofs = 0;
    const work = async () => {
      for (const entry of queue) {
        const fault = await faultOf(fixture, entry);
        if (fault !== null) wrong.push({ file: entry.id, fault });
        proofs += entry.versions.length + entry.transfers.length;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    expectNone('histories that do not hold', wrong);
    fixture.count('proofs in histories verified', proofs);
  },
};

/** What can be said without asking the chain. */
const offline = ['digest', 'claims', 'leaf', 'path', 'seal'];

async function faultOf({ client }: Fixture, entry: FileEntry): Promise<unknown> {
  const path = `${filesPath}/${entry.id}/history?format=proof`;
  const { outcome, status, json } = await client({ method: 'GET', path, patienceMs: oraclePatienceMs });
  if (outcome !== 'acknowledged') return `answered ${status}: ${JSON.stringify(json)}`;
  const contents = json.proofs.map(({ content }: { content: { digest: string } }) => {
    const sent = entry.versions.find((version) => version.content.contentHash === content.digest);
    return sent && bytesOf(sent.content);
  });
  const { proofs, chain } = await verifyHistory(json, { contents });
  if (chain.status !== 'pass') return chain;
  const expected = entry.versions.length + entry.transfers.length;
  if (proofs.length !== expected) return `${proofs.length} proofs instead of ${expected}`;
  const failed = proofs.flatMap(({ steps }) =>
    steps.filter(({ name, status }) => status === 'fail' || (offline.includes(name) && status !== 'pass')),
  );
  return failed.length > 0 ? failed : null;
}
