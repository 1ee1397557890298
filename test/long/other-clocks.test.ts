/** Proofs on machines whose clock shows another time, by both verifiers as processes. Needs faketime (libfaketime). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readVectorFile } from '../support/fixtures/vectors.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
import type { TrustFile } from '../support/vectors/vector.ts';

const repository = join(import.meta.dirname, '../..');

const verifiers = [
  { name: 'holdfast verify', program: null, args: [join(repository, 'src/main.ts'), 'verify'] },
  { name: 'holdfast_verify in Python', program: 'python3', args: ['-m', 'holdfast_verify'] },
] as const;

const exitCodes = { pass: 0, fail: 1, incomplete: 2 };

interface Row {
  about: string;
  /** What the clock of the machine shows. */
  now?: string;
  vector: string;
  /** Instead of that of the vector. */
  trust?: (given: TrustFile) => TrustFile;
  verdict: keyof typeof exitCodes;
}

const in2046 = '2046-06-01 00:00:00';

const rows: Row[] = [
  {
    about: 'a block that is later than the clock of the machine, which may be slow',
    now: '2026-11-14 00:00:00',
    vector: 'record-jcs',
    verdict: 'pass',
  },
  { about: 'a block alone', vector: 'record-jcs', verdict: 'pass' },
  { about: 'OpenTimestamps alone', vector: 'opentimestamps-alone', verdict: 'pass' },
  {
    about: 'a token whose renewals reach a certificate that is valid',
    vector: 'renewal-of-two-generations',
    verdict: 'pass',
  },
  {
    about: 'a token whose first renewal alone is trusted, and has ended too',
    vector: 'renewal-of-two-generations-last-untrusted',
    verdict: 'incomplete',
  },
  { about: 'a token without a renewal', vector: 'renewal-missing', verdict: 'incomplete' },
  {
    about: 'no trusted clock',
    vector: 'three-clocks',
    trust: ({ format }) => ({ format }),
    verdict: 'incomplete',
  },
];

const asGiven = (given: TrustFile): TrustFile => given;

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-2046-'));
});
after(() => rm(folder, { recursive: true }));

for (const { name, program, args } of verifiers) {
  const suite = program === null ? needs('faketime') : needs('faketime', program);
  suite.describe(name, () => {
    for (const { about, now = in2046, vector, trust = asGiven, verdict } of rows) {
      test(`${now.slice(0, 10)}, ${about}: ${verdict}`, async () => {
        const { proof, content, trust: given } = readVectorFile(vector);
        assert.ok(given !== null && content !== null && 'utf8' in content);
        const file = (kind: string) => join(folder, `${vector}-${verdict}-${kind}`);
        await writeFile(file('proof'), JSON.stringify(proof));
        await writeFile(file('content'), content.utf8);
        await writeFile(file('trust'), JSON.stringify(trust(given)));
        const { code, stdout } = await run(now, [
          ...[program === null ? process.execPath : pathOf(program), ...args],
          ...[file('proof'), file('content'), '--trust', file('trust')],
        ]);
        assert.equal(code, exitCodes[verdict], stdout);
        assert.match(stdout, new RegExp(`^${verdict.toUpperCase()}: `));
      });
    }
  });
}

function run(now: string, command: string[]): Promise<{ code: number; stdout: string }> {
  const cwd = join(repository, 'verifiers/python');
  return new Promise((resolve) => {
    execFile(
      pathOf('faketime'),
      [now, ...command],
      { cwd, env: { ...process.env, TZ: 'UTC' } },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout: stdout + stderr }),
    );
  });
}
