/** The step `signature` of a verification: what a proof of kind `signoff` proves was signed by the worker whom it names. */
import { parseJsonText } from '../../runtime/json-text.ts';
import { isSignoffFormat, type SignoffDocument, signedInWords, signoffFaults } from './signoff-document.ts';
import { documentSignatureFault } from './signoff-signature.ts';

/** What the proof says that it is about. */
export interface ProvedSubject {
  subject: { workspaceId: string; id: string };
  claims: Record<string, unknown> | null;
}

export type SignatureFound = { status: 'pass' | 'fail' | 'skipped'; message: string };

/** `content`: the text whose digest the proof has. */
export async function checkSignature(
  { subject, claims }: ProvedSubject,
  content: Uint8Array,
): Promise<SignatureFound> {
  const document = parseJsonText(new TextDecoder().decode(content));
  if (!isSignoffFormat(document)) {
    return { status: 'skipped', message: 'This version does not know the format of this sign-off.' };
  }
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
  if (Number.isNaN(Date.parse(signoff.signedAt))) return fail('signedAt is not a time.');
  const refused = await documentSignatureFault(signoff);
  if (refused !== null) return fail(`The signature is refused: ${refused}.`);
  return { status: 'pass', message: signedInWords(signoff) };
}

function fail(message: string): SignatureFound {
  return { status: 'fail', message };
}
