/** Selects one of the active vaults. */
import { Select } from '@mantine/core';
import { useList } from '../api/lists.ts';
import { type Vault, vaultList } from './vault.ts';

export interface VaultChoiceProps {
  label?: string;
  description?: string;
  value: string | null;
  choose(address: string | null): void;
  /** Addresses that cannot be chosen. */
  without?: string[];
}

export function VaultChoice({ label = 'Vault', description, value, choose, without = [] }: VaultChoiceProps) {
  const { items } = useList<Vault>({ ...vaultList, query: { status: 'active' }, limit: 1000 });
  const vaults = (items ?? []).filter(({ address }) => !without.includes(address));
  return (
    <Select
      label={label}
      description={description}
      required
      searchable
      placeholder={items && vaults.length === 0 ? 'There is no active vault yet' : 'Choose one'}
      data={vaults.map(({ name, address }) => ({
        value: address,
        label: `${name} (${address.slice(0, 8)}…)`,
      }))}
      value={value}
      onChange={choose}
    />
  );
}
