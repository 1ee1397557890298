/**
 * The statements about the passkeys of workers, one after the other: whether each follows from those before, and whether a
 * sign-off was made with what its worker had then. Pure, and safe in browsers.
 */
import type { Hex } from 'viem';
import { toHex, zeroHash } from '../hex.ts';
import { type LeafValues, leafHash } from '../leaf.ts';
import { utcTime } from '../utc-time.ts';
import type { PasskeyAssertion } from './assertion.ts';
import {
  isPasskeyFormat,
  type PasskeyDocument,
  type PasskeyRegistration,
  type PasskeyRevocation,
  registrationFormat,
  statementFault,
} from './passkey-document.ts';
import type { SignoffDocument } from './signoff-document.ts';

/** A statement as somebody hands it over. */
export interface HandedStatement {
  workerId: string;
  number: number;
  hash: Hex;
  document: unknown;
  /** Of its proof, if there is one that does not fail. */
  leaf: LeafValues | null;
}

export interface PasskeyChain {
  /** The next one; those of a worker in their order. Returns what contradicts it. */
  add(statement: HandedStatement): Promise<string[]>;
  /** What contradicts that the worker signed with this; and whether what it depends on is proven. */
  judge(document: SignoffDocument): { faults: string[]; isProven: boolean };
}

interface Registered {
  document: PasskeyRegistration;
  hash: Hex;
  /** With all statements before. */
  isProven: boolean;
  revokedAt: string | null;
}

interface Worker {
  address: string;
  /** The last statement; its leaf is null without a proof. */
  last: { number: number; leaf: Hex | null };
  registered: Registered[];
  isProven: boolean;
}

export function createPasskeyChain(workspaceId: string): PasskeyChain {
  const workers = new Map<string, Worker>();
  /** By address: the one worker who has it. */
  const addresses = new Map<string, string>();
  /** No passkey is registered twice. Apart, because whoever registers one chooses its credential, such as somebody's public key. */
  const known = { credentials: new Set<string>(), publicKeys: new Set<string>() };

  /** What is wrong with its place; and the worker whom it is about, with this as the last statement. */
  function place(
    statement: HandedStatement,
    document: PasskeyDocument,
  ): { worker: Worker; faults: string[] } {
    const { workerId, number, leaf } = statement;
    const address = document.workerAddress;
    const faults: string[] = [];
    const before = workers.get(workerId);
    const worker = before ?? { address, last: { number: 0, leaf: zeroHash }, registered: [], isProven: true };
    const { last } = worker;
    if (number !== last.number + 1) faults.push('does not follow the one before');
    const isAbout = document.workspaceId === workspaceId && document.workerId === workerId;
    if (!isAbout || document.number !== number) faults.push('is about something else');
    if (worker.address !== address) faults.push('is about another address than the one before');
    const owner = addresses.get(address) ?? workerId;
    if (owner !== workerId) faults.push('is about the address of another worker');
    if (leaf && leaf[6] !== document.vault) faults.push('is sealed by another vault than it names');
    if (leaf && last.leaf !== null && leaf[5] !== last.leaf)
      faults.push('has a proof that does not follow the one before');
    addresses.set(address, owner);
    worker.last = { number, leaf: leaf && toHex(leafHash(leaf)) };
    worker.isProven &&= leaf !== null;
    workers.set(workerId, worker);
    return { worker, faults };
  }

  function register(worker: Worker, document: PasskeyRegistration, hash: Hex): string[] {
    const { signedWith, credentialId, publicKey } = document;
    if (known.credentials.has(credentialId) || known.publicKeys.has(publicKey))
      return ['registers a passkey that was registered before'];
    known.credentials.add(credentialId);
    known.publicKeys.add(publicKey);
    if (signedWith.method === 'passkey') {
      const by = findRegistered(worker, signedWith);
      if (!by) return ['is signed by a passkey that is not registered'];
      if (by.revokedAt !== null) return ['is signed by a passkey that had been revoked'];
    }
    worker.registered.push({ document, hash, isProven: worker.isProven, revokedAt: null });
    return [];
  }

  function revoke(
    worker: Worker,
    { registration, credentialId, vault, revokedAt }: PasskeyRevocation,
  ): string[] {
    const revoked = worker.registered.find(({ hash }) => hash === registration.hash);
    if (revoked?.document.number !== registration.number || revoked.document.credentialId !== credentialId) {
      return ['revokes a passkey that is not registered'];
    }
    if (revoked.revokedAt !== null) return ['revokes a passkey that had been revoked'];
    revoked.revokedAt = revokedAt;
    const faults: string[] = [];
    if (revoked.document.vault !== vault) faults.push('is sealed by another vault than the registration');
    if (utcTime(revokedAt) < utcTime(revoked.document.receivedAt))
      faults.push('revokes a passkey before it was registered');
    return faults;
  }

  return {
    async add(statement) {
      const { hash, document: said } = statement;
      if (!isPasskeyFormat(said)) return ['has a format that is not known'];
      const refused = await statementFault(said);
      // Nothing follows from a statement that does not hold.
      if (refused !== null) return [`is refused: ${refused}`];
      const document = said as unknown as PasskeyDocument;
      const { worker, faults } = place(statement, document);
      if (faults.length > 0) return faults;
      return document.format === registrationFormat
        ? register(worker, document as PasskeyRegistration, hash)
        : revoke(worker, document as PasskeyRevocation);
    },

    judge(document) {
      const { workerAddress, signedWith, signedAt, receivedAt = signedAt } = document;
      const owner = addresses.get(workerAddress);
      const worker = owner === undefined ? undefined : workers.get(owner);
      if (signedWith.method !== 'passkey') {
        const [first] = worker?.registered ?? [];
        const isLate = first && utcTime(receivedAt) > utcTime(first.document.receivedAt);
        const faults = isLate ? ['it was signed without a passkey, although the worker had one then'] : [];
        return { faults, isProven: true };
      }
      const found = worker && findRegistered(worker, signedWith);
      if (!found)
        return { faults: ['its passkey is not one that the worker had registered'], isProven: false };
      const faults: string[] = [];
      // The time of a signature is in whole seconds.
      if (utcTime(signedAt) + 1000 <= utcTime(found.document.receivedAt)) {
        faults.push('it was signed before its passkey was registered');
      }
      if (found.revokedAt !== null && utcTime(receivedAt) > utcTime(found.revokedAt)) {
        faults.push('its passkey had been revoked');
      }
      return { faults, isProven: found.isProven };
    },
  };
}

function findRegistered({ registered }: Worker, by: PasskeyAssertion): Registered | undefined {
  return registered.find(
    ({ hash, document }) =>
      hash === by.registration.hash &&
      document.number === by.registration.number &&
      document.credentialId === by.credentialId &&
      document.publicKey === by.publicKey &&
      document.rpId === by.rpId,
  );
}
