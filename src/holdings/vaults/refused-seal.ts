/** What may not be sealed: a vault that is deactivated takes nothing new, and nobody seals for an asset of somebody else. */
import { violates } from '../../db/faults.ts';
import { AppError } from '../../runtime/errors.ts';

export function vaultDeactivated(address: string): AppError {
  return new AppError(
    'vault_deactivated',
    `The vault ${address} is deactivated and accepts nothing new. Reactivate it first, or use another vault.`,
  );
}

/** For a commit that fails: says it in our words when the database refused it for what happened meanwhile. */
export function explainRefusedSeal(error: unknown): never {
  // The constraints are those of the trigger on anchor_leaves; their detail is whom they are about.
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
