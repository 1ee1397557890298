/** A vault by its name, leading to it; by its address until the name is there. */
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { pathTo } from '../links.ts';
import { vaultQuery } from './vault.ts';

export interface VaultLinkProps {
  address: string;
  /** Inside a sentence, where a colour alone would not tell it from the words around it. */
  inText?: boolean;
  /** On one line, at most so wide, as in a table. */
  maxWidth?: number;
}

export function VaultLink({ address, inText = false, maxWidth }: VaultLinkProps) {
  const { data } = useQuery(vaultQuery(address));
  return (
    <Anchor
      component={Link}
      to={pathTo('/vaults/$address', address)}
      size="sm"
      title={data ? `${data.name} (${address})` : address}
      {...(inText && { underline: 'always', c: 'inherit' })}
      {...(maxWidth !== undefined && { className: 'cut', display: 'block', maw: maxWidth })}
    >
      {data?.name ?? `${address.slice(0, 8)}…${address.slice(-6)}`}
    </Anchor>
  );
}
