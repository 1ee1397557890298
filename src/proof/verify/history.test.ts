/** Histories: what a list of proofs shows together, and every way in which its chain can be broken. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import {
  factsOf,
  fixed,
  type Made,
  makeProofs,
  memoryChain,
  registry,
  type Thing,
  utf8,
} from '../../../test/support/fixtures/proof-fixture.ts';
import { type History, historyFormat, verifyHistory } from './history.ts';
import type { Proof } from './proof.ts';

const [ann, bob, eve] = [fixed(0x11), fixed(0x22), fixed(0x33)];
const addressOf = (key: typeof ann) => privateKeyToAccount(key).address;

/** Each proof is in a batch of its own, after the previous one. */
async function makeHistory(
  steps: Pick<Thing, 'kind' | 'key' | 'version' | 'claims'>[],
): Promise<{ history: History; made: Made[] }> {
  const made: Made[] = [];
  const lastSeals = new Map<string, Made['sealId']>();
  for (const [place, step] of steps.entries()) {
    const previousLeaf = made.at(-1)?.leaf;
    const previousSeal = lastSeals.get(step.key);
    const thing: Thing = {
      id: 'fil_1',
      content: utf8(`content ${place}`),
      canonicalization: 'raw',
      ...step,
      ...(previousLeaf && { previousLeaf }),
    };
    const where = {
      sequence: place + 1,
      chainId: 1,
      blockNumber: 100 + place,
      blockTime: 1_800_000_000 + place,
      ...(previousSeal && { previousSeal }),
    };
    const [proved] = (await makeProofs([thing], where)) as [Made];
    lastSeals.set(step.key, proved.sealId);
    made.push(proved);
  }
  const proofs = made.map(({ proof }) => proof);
  const subject = proofs[0]?.subject ?? { workspaceId: '', id: '' };
  return { history: { format: historyFormat, subject, proofs }, made };
}

const give = (from: typeof ann, to: typeof ann, version: number) => ({
  kind: 'transfer',
  key: from,
  version,
  claims: { to: addressOf(to) },
});

let good: History;
before(async () => {
  const { history } = await makeHistory([
    { kind: 'file', key: ann, version: 1 },
    { kind: 'file', key: ann, version: 2 },
    give(ann, bob, 1),
    { kind: 'file', key: bob, version: 3 },
    give(bob, ann, 2),
  ]);
  good = history;
});

/** A fault only in the chain: every proof on its own is right. */
async function refused(history: unknown, reason: RegExp): Promise<void> {
  const { chain, verdict } = await verifyHistory(history);
  assert.match(chain.message, reason);
  assert.deepEqual([chain.status, verdict], ['fail', 'fail']);
}

test('versions and transfers that follow each other pass, with contents and a chain', async () => {
  const facts = good.proofs.map(factsOf);
  const all = Object.assign({}, ...facts) as ReturnType<typeof factsOf>;
  for (const name of ['transactions', 'blocks'] as const) {
    all[name] = Object.assign({}, ...facts.map((one) => one[name]));
  }
  const contents = good.proofs.map((_, place) => utf8(`content ${place}`));
  const checked = await verifyHistory(JSON.stringify(good), { contents, chain: memoryChain(all), registry });
  assert.deepEqual(
    checked.proofs.map(({ verdict }) => verdict),
    ['pass', 'pass', 'pass', 'pass', 'pass'],
  );
  assert.deepEqual([checked.chain.status, checked.verdict], ['pass', 'pass']);
});

test('is incomplete without a chain, never a pass', async () => {
  const { chain, verdict } = await verifyHistory(good);
  assert.deepEqual([chain.status, verdict], ['pass', 'incomplete']);
});

test('one proof that fails makes the history fail', async () => {
  const history = structuredClone(good);
  (history.proofs[1] as { merkle: { root: string } }).merkle.root = fixed(9);
  const { chain, verdict, proofs } = await verifyHistory(history);
  assert.deepEqual([proofs[1]?.verdict, chain.status, verdict], ['fail', 'pass', 'fail']);
});

test('finds a gap, a wrong start, a wrong order and a repetition', async () => {
  const { proofs } = good;
  await refused({ ...good, proofs: proofs.toSpliced(1, 1) }, /proofs\[1\] does not follow/);
  await refused({ ...good, proofs: proofs.slice(1) }, /proofs\[0\] does not follow/);
  await refused({ ...good, proofs: proofs.toReversed() }, /proofs\[0\] does not follow/);
  await refused({ ...good, proofs: [proofs[0], ...proofs] }, /proofs\[1\] does not follow/);
});

test('only the owner may seal what follows', async () => {
  const stolen = await makeHistory([
    { kind: 'file', key: ann, version: 1 },
    { kind: 'file', key: eve, version: 2 },
  ]);
  await refused(stolen.history, /proofs\[1\] is sealed by .*, but .* owned it/);
  const kept = await makeHistory([
    { kind: 'file', key: ann, version: 1 },
    give(ann, bob, 1),
    { kind: 'file', key: ann, version: 2 },
  ]);
  await refused(kept.history, /proofs\[2\] is sealed by/);
  const nameless = await makeHistory([
    { kind: 'file', key: ann, version: 1 },
    { kind: 'transfer', key: ann, version: 1, claims: { to: 'bob' } },
  ]);
  await refused(nameless.history, /claims\.to/);
});

test('a revoked vault may seal nothing more, even if it becomes the owner again', async () => {
  const { history } = await makeHistory([
    { kind: 'file', key: ann, version: 1 },
    { kind: 'revoke', key: ann, version: 1, claims: { to: addressOf(bob) } },
    { kind: 'file', key: bob, version: 2 },
    give(bob, ann, 1),
    { kind: 'file', key: ann, version: 3 },
  ]);
  assert.equal(
    (await verifyHistory({ ...history, proofs: history.proofs.slice(0, 4) })).chain.status,
    'pass',
  );
  await refused(history, /proofs\[4\] is sealed by .*, which was revoked/);
});

test('finds versions that do not rise, and a different subject', async () => {
  const again = await makeHistory([
    { kind: 'file', key: ann, version: 2 },
    { kind: 'file', key: ann, version: 2 },
  ]);
  await refused(again.history, /proofs\[1\] does not have a higher version/);
  await refused({ ...good, subject: { ...good.subject, id: 'fil_2' } }, /different subject/);
});

test('finds two seals under one number of a vault, numbers that fall, and a seal that is left out', async () => {
  const { history } = await makeHistory([
    { kind: 'file', key: ann, version: 1 },
    { kind: 'file', key: ann, version: 2 },
  ]);
  const changed = (change: (first: Proof, second: Proof) => void): History => {
    const copy = structuredClone(history);
    const [first, second] = copy.proofs as [Proof, Proof];
    change(first, second);
    return copy;
  };
  const same = changed(({ seal }, second) => {
    second.seal.sequence = seal.sequence;
  });
  await refused(same, /second seal under number 1/);
  const falling = changed(({ seal }) => {
    seal.sequence = '5';
  });
  await refused(falling, /under number 2 of .*, after 5/);
  const other = changed((_, { seal }) => {
    seal.previousSeal = fixed(0x77);
  });
  await refused(other, /does not name the seal before/);
  const apart = changed((_, { seal }) => {
    Object.assign(seal, { sequence: '7', previousSeal: fixed(0x77) });
  });
  assert.equal((await verifyHistory(apart)).chain.status, 'pass');
});

test('erased claims of a transfer leave the owner open', async () => {
  const { history } = await makeHistory([
    { kind: 'file', key: ann, version: 1 },
    give(ann, bob, 1),
    { kind: 'file', key: bob, version: 2 },
  ]);
  (history.proofs[1] as { claims: unknown }).claims = null;
  const { chain, verdict } = await verifyHistory(history);
  assert.deepEqual([chain.status, verdict], ['skipped', 'incomplete']);
});

test('refuses a document that is not a history', async () => {
  for (const [document, reason] of [
    ['{', /not usable JSON/],
    ['{"format":1,"format":2}', /twice/],
    [null, /is not an object/],
    [{ ...good, format: 'holdfast/history@2' }, /format is not/],
    [{ ...good, note: '' }, /note is not a field/],
    [{ ...good, proofs: [] }, /proofs has 0 items/],
    [{ ...good, proofs: [{ ...good.proofs[0], kind: 'File' }] }, /proofs\[0\]\.kind is not/],
  ] as const) {
    await refused(document, reason);
  }
});
