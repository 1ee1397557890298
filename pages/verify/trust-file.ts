/** The trust file that the visitor may choose in place of the trust that ships. */
import { utf8Text } from '../../src/proof/utf8.ts';
import { readTrust, shippedTrust, type Trust } from '../../src/proof/verify/trust.ts';
import { parseJsonText } from '../../src/runtime/json-text.ts';
import { createFileCard, element, type FileCard } from './file-card.ts';

/** A million hashes of Bitcoin blocks have 100 MB. */
const maxTrustBytes = 128 * 1024 * 1024;

/** Puts the card into the page, at the place that it keeps for it. */
export function createTrustCard(onChange: () => void): FileCard {
  const place = element('trust-field');
  // Written here and not from anything that a visitor gives.
  place.innerHTML = `
    <div class="file small" id="trust-card">
      <input type="file" id="trust" accept=".json,application/json" aria-describedby="trust-state trust-note trust-fault">
      <label for="trust">
        <span class="file-text"><span class="file-title">Trust file</span><span class="file-state" id="trust-state"></span></span>
      </label>
      <button type="button" class="clear" hidden aria-label="Remove the trust file">×</button>
    </div>
    <small id="trust-note">JSON in the format holdfast/trust@1. It replaces whom this page trusts, and may name revoked certificates: your decision, or that of whoever gave it to you.</small>
    <small class="fault" id="trust-fault" role="alert"></small>`;
  const empty = 'The trust that ships: known public chains, and well-known timestamp authorities';
  return createFileCard('trust', { empty, onChange });
}

/** Every check asks for it, and a file may be large. */
let kept: { file: File; trust: Trust } | null = null;

/** Null when the file cannot be used; the card then shows why. */
export async function readTrustFile(file: File | null): Promise<Trust | null> {
  const fault = element('trust-fault');
  fault.textContent = '';
  if (file === null) return shippedTrust;
  if (kept?.file === file) return kept.trust;
  try {
    if (file.size > maxTrustBytes) throw new Error('It is too large.');
    const text = utf8Text(await file.arrayBuffer());
    const trust = readTrust(parseJsonText(text));
    kept = { file, trust };
    return trust;
  } catch (error) {
    fault.textContent = `${file.name} cannot be used as a trust file: ${reasonOf(error)}`;
    return null;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return 'It is not text in UTF-8.';
  return error instanceof SyntaxError ? 'It is not JSON.' : (error as Error).message;
}
