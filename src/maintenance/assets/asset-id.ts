/** Which ids callers may give an asset: printable text that fits into a path and cannot be mistaken for an id of ours. */
import { AppError } from '../../runtime/errors.ts';
import { idPrefixes } from '../../runtime/ids.ts';

export const maxAssetIdLength = 255;

const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u;
const ours = new RegExp(`^(${idPrefixes.join('|')})_`, 'i');

/** Throws invalid_request. */
export function checkAssetId(assetId: string): void {
  const fault = faultOf(assetId);
  if (fault !== null) throw new AppError('invalid_request', `assetId ${fault}.`);
}

function faultOf(assetId: string): string | null {
  if (assetId === '' || assetId.length > maxAssetIdLength) {
    return `must have 1 to ${maxAssetIdLength} characters`;
  }
  if (!printable.test(assetId)) return 'must contain only printable characters';
  // Browsers treat a backslash in a URL as a slash.
  if (/[/\\]/.test(assetId)) return 'must not contain a slash or backslash';
  if (assetId === '.' || assetId === '..') return 'must not be "." or ".."';
  if (assetId !== assetId.trim()) return 'must not begin or end with a space';
  // Two texts that look the same would identify two assets.
  if (assetId !== assetId.normalize('NFC')) return 'must be in Unicode normalization form C';
  if (ours.test(assetId)) {
    return `must not begin with ${assetId.slice(0, assetId.indexOf('_') + 1)}, which is reserved for ids created by the service`;
  }
  return null;
}
