/** The vault that owns something, by its name. */
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { vaultPath } from '../links.ts';
import { vaultQuery } from '../vaults/vault.ts';

export function Owner({ address }: { address: string }) {
  const { data } = useQuery({ ...vaultQuery(address), staleTime: 60_000 });
  return (
    <Anchor component={Link} to={vaultPath(address)} size="sm" title={address}>
      {data?.name ?? <span className="mono">{`${address.slice(0, 8)}…${address.slice(-6)}`}</span>}
    </Anchor>
  );
}
