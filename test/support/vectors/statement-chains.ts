/** Statements about passkeys that break one rule each, and are in order otherwise. */
import type { Hex } from 'viem';
import { fixed, type Thing } from '../fixtures/proof-fixture.ts';
import { vaultKeys } from './base-batches.ts';
import { ecPasskey, es256, type Passkey } from './passkey-assertions.ts';
import {
  registrationOf,
  revocationOf,
  type StatementLine,
  statementChain,
  stranger,
  workerId,
} from './statements-made.ts';

export const second = ecPasskey(0x46);
export const third = ecPasskey(0x47);
const strangerVault = stranger.address.toLowerCase() as Hex;

export async function withRevocation(change: object): Promise<StatementLine[]> {
  const chain = statementChain();
  const first = await chain.add(await registrationOf(es256));
  await chain.add(await registrationOf(second, { number: 2, by: { passkey: es256, of: first } }));
  await chain.add(revocationOf(first, { number: 3, ...change }));
  return chain.lines;
}

export async function revokedAlone(): Promise<StatementLine[]> {
  const chain = statementChain();
  const first = await chain.add(await registrationOf(es256));
  await chain.add(revocationOf(first, { revokedAt: '2026-11-15T01:20:00.000Z' }));
  return chain.lines;
}

/** The proof is about the digest alone: the salt is not told. */
export async function saltless(change: Partial<Thing>): Promise<object[]> {
  const chain = statementChain();
  const line = await chain.add(await registrationOf(es256), change);
  const { proof } = line;
  return [
    {
      ...line,
      workerId,
      number: 1,
      proof: proof && { ...proof, content: { ...proof.content, salt: null } },
    },
  ];
}

export async function revokedTwice(): Promise<StatementLine[]> {
  const chain = statementChain();
  const first = await chain.add(await registrationOf(es256));
  await chain.add(await registrationOf(second, { number: 2, by: { passkey: es256, of: first } }));
  await chain.add(revocationOf(first, { number: 3 }));
  await chain.add(revocationOf(first, { number: 4 }));
  return chain.lines;
}

export async function revokedByStranger(): Promise<StatementLine[]> {
  const chain = statementChain();
  const first = await chain.add(await registrationOf(es256));
  await chain.add(await registrationOf(second, { number: 2, by: { passkey: es256, of: first } }));
  await chain.add(revocationOf(first, { number: 3, vault: strangerVault }), { key: fixed(0x66) });
  return chain.lines;
}

export async function byRevoked(): Promise<StatementLine[]> {
  const chain = statementChain();
  const first = await chain.add(await registrationOf(es256));
  await chain.add(revocationOf(first));
  await chain.add(await registrationOf(second, { number: 3, by: { passkey: es256, of: first } }));
  return chain.lines;
}

export async function byUnknown(): Promise<StatementLine[]> {
  const chain = statementChain();
  await chain.add(await registrationOf(es256));
  const by = { passkey: es256, of: { number: 1, hash: fixed(0xcd) } };
  await chain.add(await registrationOf(second, { number: 2, by }));
  return chain.lines;
}

export async function again(): Promise<StatementLine[]> {
  const chain = statementChain();
  const first = await chain.add(await registrationOf(es256));
  const renamed = { ...es256, credentialId: '0x09' } as Passkey;
  await chain.add(await registrationOf(renamed, { number: 2, by: { passkey: es256, of: first } }));
  return chain.lines;
}

export async function replayed(): Promise<StatementLine[]> {
  const chain = statementChain();
  const document = await registrationOf(es256);
  await chain.add(document);
  await chain.add({ ...document, number: 2 });
  return chain.lines;
}

export async function ofWorkspace(): Promise<StatementLine[]> {
  const chain = statementChain();
  await chain.add(await registrationOf(es256, { change: { workspaceId: 'ws_other' } }));
  return chain.lines;
}

/** The key of the address signs for a second worker. */
export async function forOther(one: StatementLine): Promise<StatementLine[]> {
  const chain = statementChain();
  await chain.add(await registrationOf(second, { change: { workerId: 'wrk_other' } }));
  return [one, ...chain.lines];
}

export async function withAddress(): Promise<StatementLine[]> {
  const chain = statementChain();
  const change = { workerAddress: stranger.address };
  const first = await chain.add(await registrationOf(es256));
  const by = { passkey: es256, of: first };
  await chain.add(await registrationOf(second, { number: 2, by, change }));
  return chain.lines;
}

export async function ofOther(): Promise<StatementLine[]> {
  const chain = statementChain();
  const change = { workerId: 'wrk_other', workerAddress: stranger.address };
  await chain.add(await registrationOf(third, { account: stranger, change }));
  return chain.lines;
}

export async function unsignedByWorker(): Promise<StatementLine[]> {
  const chain = statementChain();
  await chain.add(await registrationOf(es256, { account: stranger }));
  return chain.lines;
}

export async function onePerson(): Promise<StatementLine[]> {
  const chain = statementChain();
  await chain.add(await registrationOf(es256, { change: { confirmedBy: 'usr_1' } }));
  return chain.lines;
}

export async function ofStranger(): Promise<StatementLine[]> {
  const chain = statementChain();
  await chain.add(await registrationOf(es256), { key: vaultKeys.stranger });
  return chain.lines;
}

export async function notFollowing(): Promise<StatementLine[]> {
  const chain = statementChain();
  const first = await chain.add(await registrationOf(es256));
  const document = await registrationOf(second, { number: 2, by: { passkey: es256, of: first } });
  await chain.add(document, { previousLeaf: fixed(0xee) });
  return chain.lines;
}

export async function relabelled(): Promise<StatementLine[]> {
  const chain = statementChain();
  await chain.add(await registrationOf(es256), { kind: 'record' });
  return chain.lines;
}

/** Somebody else chose the public key of the worker as the credential of theirs. */
export async function namedAsKey(one: StatementLine): Promise<StatementLine[]> {
  const chain = statementChain();
  const named = { ...second, credentialId: es256.publicKey } as Passkey;
  const change = { workerId: 'wrk_other', workerAddress: stranger.address };
  await chain.add(await registrationOf(named, { change, account: stranger }));
  return [...chain.lines, one];
}

/** A worker without an id, so no proof is about them. */
export async function ofNobody(): Promise<StatementLine[]> {
  const change = { workerId: '', workerAddress: stranger.address };
  const chain = statementChain();
  const line = await chain.add(await registrationOf(es256, { change, account: stranger }), {
    id: 'wrk_other',
  });
  return [{ ...line, workerId: '', proof: null }];
}
