/** Refused seals: a deactivated vault accepts nothing new, and no vault seals for an asset that it does not own. */
import { violates } from '../../db/faults.ts';
import { AppError } from '../../runtime/errors.ts';

export function vaultDeactivated(address: string): AppError {
  return new AppError(
    'vault_deactivated',
    `The vault ${address} is deactivated and accepts nothing new. Reactivate it first, or use another vault.`,
  );
}

/** For a failed commit: throws an AppError if the database refused it because of a concurrent change. */
export function explainRefusedSeal(error: unknown): never {
  // Constraints of the trigger on anchor_leaves; their detail is the vault or asset concerned.
  const { detail = '' } = error as { detail?: string };
  if (violates(error, 'sealed_by_active_vault')) throw vaultDeactivated(detail);
  if (violates(error, 'sealed_by_owner')) {
    throw new AppError(
      'conflict',
      `The asset ${detail} was transferred in the meantime, and nothing was recorded. Send the request again for its new owner.`,
    );
  }
  throw error;
}
