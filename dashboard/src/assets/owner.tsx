/** The vault that owns something, by its name. */
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { pathTo } from '../links.ts';
import { vaultQuery } from '../vaults/vault.ts';

/** `lines`: truncates after this many lines. */
export function Owner({ address, lines }: { address: string; lines?: number }) {
  const { data } = useQuery({ ...vaultQuery(address), staleTime: 60_000 });
  return (
    <Anchor
      component={Link}
      to={pathTo('/vaults/$address', address)}
      size="sm"
      title={data ? `${data.name}, ${address}` : address}
      {...(lines !== undefined && { lineClamp: lines })}
    >
      {data?.name ?? <span className="mono">{`${address.slice(0, 8)}…${address.slice(-6)}`}</span>}
    </Anchor>
  );
}
