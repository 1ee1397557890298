/** A link to a vault by its name; shows the address until the name has loaded. */
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { pathTo } from '../links.ts';
import { vaultQuery } from './vault.ts';

export interface VaultLinkProps {
  address: string;
  /** Inside a sentence, where colour alone would not distinguish it from the text. */
  inText?: boolean;
  /** On one line, at most this wide, as in a table. */
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
