/** The files that a vault currently owns. */
import { useState } from 'react';
import { useMayWrite } from '../api/session.ts';
import type { Vault } from '../vaults/vault.ts';
import { FileArea } from './file-area.tsx';

export function VaultFiles({ vault: { address, status } }: { vault: Vault }) {
  const mayWrite = useMayWrite();
  const [adding, setAdding] = useState<File[] | null>(null);
  return (
    <FileArea
      vaultAddress={address}
      takesFiles={mayWrite && status === 'active'}
      adding={adding}
      setAdding={setAdding}
    />
  );
}
