/**
 * Checks every timestamp: that it still passes at its own time, that its flags follow from what covers it, and that a proof
 * has room for its renewals; and the certificates and lists that timestamps have in common.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { readUnstamped } from '../anchoring/evidence/clock-stats.ts';
import { evidencePass } from '../anchoring/evidence/evidence.check.ts';
import { createRenewalChains, mostRenewals } from '../anchoring/evidence/renewal-chain.ts';
import { isRenewedBy } from '../anchoring/evidence/renewal-rule.ts';
import { fromBytea } from '../db/bytea.ts';
import type { Db } from '../db/database.ts';
import { rowsPass } from '../db/rows-pass.ts';
import { writtenNumbers } from '../db/written-since.ts';
import { judgeOpenTimestamps } from '../proof/opentimestamps/judge.ts';
import type { TrustAnchor } from '../proof/rfc3161/certificates.ts';
import { judgeTimestamp } from '../proof/rfc3161/judge.ts';
import { shippedRoots } from '../proof/rfc3161/shipped-roots.ts';
import { type Check, type Finding, laterPass, type Pass } from '../runtime/check.ts';
import { readRoots } from './roots.ts';
import { anchorOf } from './token-files.ts';

export interface TimestampsCheckDeps {
  db: Db;
  clocks: { authorities: readonly string[]; rootsFile: string | null };
}

interface Row {
  id: number;
  batch_id: number;
  kind: 'rfc3161' | 'opentimestamps';
  authority: string;
  proof: Buffer;
  /** In their order; null for one that is missing. */
  certificates: (Buffer | null)[];
  crls: (Buffer | null)[];
  heights: number[];
  headers: Buffer[];
  vouched_at: Date | null;
  valid_until: Date | null;
  covered: boolean;
  renewed: boolean;
  root: Buffer;
  is_covered: boolean;
  is_renewed: boolean;
}

export function timestampsCheck({ db, clocks }: TimestampsCheckDeps): Check {
  const what = 'timestamps';
  const make = async () => {
    const own = clocks.rootsFile === null ? [] : readRoots(clocks.rootsFile).anchors;
    return timestampsPass(db, [...shippedRoots, ...own]);
  };
  return {
    name: 'timestamps',
    passes: [
      {
        ...laterPass(what, make),
        since: (time) => [laterPass(what, async () => (await make()).since?.(time)[0])],
      },
      filesPass(db),
      evidencePass(db),
    ],
    async notes() {
      if (clocks.authorities.length === 0) return [];
      const { batches, oldestSeconds } = await readUnstamped(db);
      if (batches === 0) return ['Everything is covered: timestamp authorities vouch for all batches.'];
      return [
        `No timestamp authority vouches yet for ${batches} ${batches === 1 ? 'batch' : 'batches'}, the oldest ${Math.round(oldestSeconds ?? 0)} s old. The next one that is stamped covers them.`,
      ];
    },
  };
}

function timestampsPass(db: Db, roots: readonly TrustAnchor[]): Pass {
  return rowsPass<Row>({
    db,
    what: 'timestamps',
    table: 'timestamps',
    written: [writtenNumbers(db, { table: 'timestamps' })],
    key: [{ column: 't.id', member: 'id' }],
    // Each may have some megabytes of revoked certificates.
    pageRows: 10,
    read: ({ where, end }) => sql<Row>`
      select t.id, t.batch_id, t.kind, t.authority, t.proof, ${filesNamed('certificate_hashes')} as certificates,
        ${filesNamed('crl_hashes')} as crls, t.heights, t.headers, t.vouched_at, t.valid_until, t.covered, t.renewed, b.root,
        exists (select from evidence e where e.timestamp_id = t.id) as is_covered,
        exists (
          select from evidence e join timestamps n on n.batch_id = e.head_batch_id
          where e.timestamp_id = t.id and ${isRenewedBy('t', 'n')}) as is_renewed
      from timestamps t join anchor_batches b on b.id = t.batch_id where ${where} ${end}`,
    async judge(rows) {
      const findings: Finding[] = [];
      for (const row of rows) {
        const fault = row.kind === 'rfc3161' ? await tokenFault(row, roots) : await otsFault(row);
        findings.push(...(fault ? [finding(row, fault)] : []), ...flagFindings(row));
        if (row.is_renewed) findings.push(...(await roomFindings(db, row)));
      }
      return findings;
    },
  });
}

const filesNamed = (column: string) => sql`array(
  select f.bytes from unnest(t.${sql.ref(column)}) with ordinality as named (sha256, place)
  left join timestamp_files f on f.sha256 = named.sha256 order by named.place)`;

function filesPass(db: Db): Pass {
  return rowsPass<{ sha256: Buffer; is_right: boolean }>({
    db,
    what: 'files of timestamps',
    table: 'timestamp_files',
    key: [{ column: 'sha256', member: 'sha256' }],
    read: ({ where, end }) => sql<{ sha256: Buffer; is_right: boolean }>`
      select sha256, sha256(bytes) = sha256 as is_right from timestamp_files where ${where} ${end}`,
    judge: (rows) =>
      rows.flatMap(({ sha256, is_right }) =>
        is_right
          ? []
          : [
              {
                rule: 'timestamp_file',
                ids: { sha256: fromBytea(sha256) },
                message: `A certificate or list of revoked ones has another SHA-256 than ${fromBytea(sha256)}, by which timestamps name it.`,
                advice: restore,
              },
            ],
      ),
  });
}

/** A batch that has this token only through its root needs one renewal more. */
async function roomFindings(db: Db, row: Row): Promise<Finding[]> {
  const [chain] = await createRenewalChains(db).find([row.id], mostRenewals - 1);
  if (!chain || chain.couldReach <= chain.until) return [];
  const [until, could] = [chain.until, chain.couldReach].map((time) => new Date(time).toISOString());
  return [
    finding(row, {
      rule: 'renewals_too_many',
      what: `is renewed more often than a proof has room for: proofs count until ${until}, and could until ${could}.`,
      advice:
        'Use an authority whose certificates last longer. Export the proofs that matter before their end, and have them timestamped.',
    }),
  ];
}

interface Fault {
  rule: string;
  what: string;
  advice: string;
}

const restore = 'The row was changed in the database: restore it from a backup.';

async function tokenFault(row: Row, roots: readonly TrustAnchor[]): Promise<Fault | null> {
  const { proof: token, vouched_at, valid_until } = row;
  const [certificates, crls] = [row.certificates, row.crls].map((files) =>
    files.filter((file) => file !== null),
  );
  if (
    !certificates ||
    !crls ||
    certificates.length + crls.length < row.certificates.length + row.crls.length
  ) {
    return {
      rule: 'timestamp_file_missing',
      what: 'names a certificate or list of revoked ones that is not stored.',
      advice: restore,
    };
  }
  const judged = await judgeTimestamp(anchorOf({ token, certificates, crls }), {
    imprint: sha256(row.root),
    trust: { roots, policies: [] },
    at: vouched_at?.getTime() ?? 0,
  });
  if (judged.status === 'untrusted') {
    return {
      rule: 'token_untrusted',
      what: `leads to no root that is trusted here: ${judged.reason}`,
      advice: 'Add the root to the file of HOLDFAST_TSA_ROOTS, also if the authority is no longer used.',
    };
  }
  if (judged.status !== 'pass')
    return { rule: 'token_fails', what: `fails: ${judged.reason}`, advice: restore };
  const times = [judged.time + judged.accuracyMs, judged.validUntil];
  if (times.join() === [vouched_at?.getTime(), valid_until?.getTime()].join()) return null;
  return { rule: 'token_times', what: 'does not have the times that are stored with it.', advice: restore };
}

async function otsFault({ proof, heights, headers, root }: Row): Promise<Fault | null> {
  const judged = await judgeOpenTimestamps(
    {
      type: 'opentimestamps',
      proof: proof.toString('base64'),
      headers: heights.map((height, place) => ({
        height,
        header: fromBytea(headers[place] ?? Buffer.alloc(0)),
      })),
    },
    { imprint: sha256(root), trust: { blocks: [] }, at: Date.now() },
  );
  if (judged.status !== 'fail') return null;
  return { rule: 'ots_fails', what: `fails: ${judged.reason}`, advice: restore };
}

function flagFindings(row: Row): Finding[] {
  const { covered, is_covered, renewed, is_renewed } = row;
  const wrong: [boolean, string, string][] = [
    [covered !== is_covered, 'timestamp_covered', is_covered ? 'is covered' : 'is not covered'],
    [renewed !== is_renewed, 'timestamp_renewed', is_renewed ? 'is renewed' : 'is not renewed'],
  ];
  return wrong.flatMap(([isWrong, rule, what]) =>
    isWrong
      ? [
          finding(row, {
            rule,
            what: `${what} by the head of a batch, but marked otherwise.`,
            advice: restore,
          }),
        ]
      : [],
  );
}

function finding({ id, batch_id: batch }: Row, { rule, what, advice }: Fault): Finding {
  return {
    rule,
    ids: { timestamp: id, batch },
    message: `The timestamp ${id} of batch ${batch} ${what}`,
    advice,
  };
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
