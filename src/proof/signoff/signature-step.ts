/**
 * The step `signature` of a verification: what a proof of kind `signoff` or `passkey` proves was signed by the worker whom it
 * names, and is about what the proof says.
 */
import type { Hex } from 'viem';
import { parseJsonText } from '../../runtime/json-text.ts';
import { utf8Text } from '../utf8.ts';
import {
  isPasskeyFormat,
  type PasskeyDocument,
  type PasskeyRegistration,
  registrationFormat,
  statementFault,
} from './passkey-document.ts';
import { workerSignatureFault } from './signed-with.ts';
import { isSignoffFormat, type SignoffDocument, signedInWords, signoffFaults } from './signoff-document.ts';
import { signoffDigest, signoffMessage } from './signoff-message.ts';

/** What the proof says that it is about. */
export interface Proved {
  kind: string;
  subject: { workspaceId: string; id: string };
  claims: Record<string, unknown> | null;
  /** Of the leaf; the version is a decimal string. */
  version: string;
  vault: Hex;
}

export type SignatureFound = { status: 'pass' | 'fail' | 'skipped'; message: string };

const checks = new Map([
  ['signoff', checkSignoff],
  ['passkey', checkStatement],
]);

/** Whether the content of this kind is signed by a worker. It is JSON then: no other canonicalization is valid. */
export function isSignedKind(kind: string): boolean {
  return checks.has(kind);
}

/** `content`: the text whose digest the proof has. */
export async function checkSignature(proved: Proved, content: Uint8Array): Promise<SignatureFound> {
  const check = checks.get(proved.kind);
  if (check === undefined) throw new Error(`nobody signs a ${proved.kind}`);
  return check(proved, readSignedText(content));
}

/** The digest of the content was right, so it is JSON. */
export function readSignedText(content: Uint8Array): unknown {
  return parseJsonText(utf8Text(content));
}

async function checkSignoff({ subject, claims }: Proved, document: unknown): Promise<SignatureFound> {
  if (!isSignoffFormat(document)) return unknown('sign-off');
  const [fault] = signoffFaults(document);
  if (fault) return fail(`${fault.path} ${fault.message}.`);
  const signoff = document as unknown as SignoffDocument;
  const { workspaceId, maintenanceId, assetId, role } = signoff;
  if (workspaceId !== subject.workspaceId || maintenanceId !== subject.id) {
    return fail('The sign-off is about another entry than the proof.');
  }
  if (claims !== null && (claims.assetId !== assetId || claims.role !== role)) {
    return fail('The sign-off is about another asset, or in another role, than the claims say.');
  }
  const refused = await workerSignatureFault(signoff, signoffDigest(signoffMessage(signoff)));
  if (refused !== null) return fail(`The signature is refused: ${refused}.`);
  return { status: 'pass', message: signedInWords(signoff) };
}

async function checkStatement(proved: Proved, document: unknown): Promise<SignatureFound> {
  if (!isPasskeyFormat(document)) return unknown('statement about a passkey');
  const fault = await statementFault(document);
  if (fault !== null) return fail(`The statement is refused: ${fault}.`);
  const statement = document as unknown as PasskeyDocument;
  const { subject, claims, version, vault } = proved;
  if (statement.workspaceId !== subject.workspaceId || statement.workerId !== subject.id) {
    return fail('The statement is about another worker than the proof.');
  }
  if (String(statement.number) !== version) return fail('The statement has another number than the leaf.');
  if (statement.vault !== vault) return fail('The statement is sealed by another vault than it names.');
  const state = statement.format === registrationFormat ? 'registered' : 'revoked';
  if (claims !== null && (claims.worker !== statement.workerAddress || claims.state !== state)) {
    return fail('The statement is about another worker, or says something else, than the claims.');
  }
  return { status: 'pass', message: statementInWords(statement) };
}

function statementInWords(statement: PasskeyDocument): string {
  const { workerName, workerAddress, format } = statement;
  const worker = workerName || workerAddress;
  if (format !== registrationFormat) return `It revokes a passkey of ${worker}, which needs no signature.`;
  const { signedWith } = statement as PasskeyRegistration;
  switch (signedWith.method) {
    case 'own-key':
      return `It registers a passkey of ${worker}, signed with their own key.`;
    case 'held-key':
      return `It registers a passkey of ${worker}, signed with the key that the service held for them.`;
    default:
      return `It registers a passkey of ${worker}, signed with the passkey of statement ${signedWith.registration.number}.`;
  }
}

function unknown(what: string): SignatureFound {
  return { status: 'skipped', message: `This version does not know the format of this ${what}.` };
}

function fail(message: string): SignatureFound {
  return { status: 'fail', message };
}
