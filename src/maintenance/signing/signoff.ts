/**
 * A sign-off: the typed data that a worker signs, and its verification against the entry. Pure, and safe in browsers, so that
 * dossiers can be checked without the service.
 */
import { workerSignatureFault } from '../../proof/signoff/signed-with.ts';
import {
  isSignoffFormat,
  type SignoffDocument,
  signoffFaults,
} from '../../proof/signoff/signoff-document.ts';
import { signoffDigest, signoffMessage } from '../../proof/signoff/signoff-message.ts';
import { utcTime } from '../../proof/utc-time.ts';
import { licenceFault, licenceKey } from './licence.ts';
import { type MaintenanceEntry, requirementOf } from './maintenance-entry.ts';
import { judgeSignoff, type Performer, signingTimeFault } from './signoff-rules.ts';

/** The entry that is signed. */
export type SignedEntry = Pick<
  SignoffDocument,
  'workspaceId' | 'assetId' | 'maintenanceId' | 'maintenanceHash'
>;

/**
 * Verifies a sign-off on its own against its entry: the signature, what was signed, and that the licence was valid then.
 * Returns all faults; an empty list when there are none. Rules across several sign-offs, such as who may certify after whom,
 * are in `signoffsFault`.
 */
export async function verifySignoff(document: SignoffDocument, entry: SignedEntry): Promise<string[]> {
  if (!isSignoffFormat(document)) return ['its format is not known to this version'];
  const [malformed] = signoffFaults(document);
  if (malformed) return [`${malformed.path} ${malformed.message}`];
  const faults: string[] = [];
  for (const name of ['workspaceId', 'assetId', 'maintenanceId', 'maintenanceHash'] as const) {
    if (document[name] !== entry[name]) faults.push(`${name} does not match the entry`);
  }
  const { licence, role, signedAt } = document;
  if (licence === null && role !== 'performed') faults.push('it needs a licence and has none');
  const invalid = licence && licenceFault(licence, utcTime(signedAt));
  if (invalid) faults.push(`the licence ${invalid.message}`);
  const fault = await workerSignatureFault(document, signoffDigest(signoffMessage(document)));
  if (fault !== null) faults.push(`the signature is refused: ${fault}`);
  return faults;
}

/** What is wrong with the sign-offs of one entry taken together, in order: roles, independence, scope, times; or null. */
export function signoffsFault(
  entry: Pick<MaintenanceEntry, 'type' | 'data' | 'requires' | 'workerAddress' | 'recordedAt'>,
  documents: SignoffDocument[],
): string | null {
  const performers = performersOf(entry, documents);
  for (const [place, document] of documents.entries()) {
    const { role, workerAddress, licence, signedAt, receivedAt } = document;
    const judged = judgeSignoff({
      role,
      workerAddress,
      identity: null,
      licences: licence ? [licence] : [],
      licenceScope: licence?.scope,
      at: utcTime(signedAt),
      requires: requirementOf(entry),
      earlier: documents.slice(0, place),
      performers,
    });
    if ('code' in judged) return judged.message;
    const { recordedAt } = entry;
    const untimely = signingTimeFault({
      ...{ role, signedAt, recordedAt, earlier: documents.slice(0, place) },
      ...(receivedAt !== undefined && { receivedAt }),
    });
    if (untimely !== null) return untimely;
  }
  return null;
}

/** Those who did the work, as far as the documents say. */
export function performersOf(
  { workerAddress: address }: Pick<MaintenanceEntry, 'workerAddress'>,
  documents: SignoffDocument[],
): Performer[] {
  const by = { identities: [], inherited: false };
  return [
    { ...by, address, licences: [] },
    ...documents
      .filter(({ role }) => role === 'performed')
      .map(({ workerAddress, licence }) => ({
        ...by,
        address: workerAddress,
        licences: licence ? [licenceKey(licence)] : [],
      })),
  ];
}
