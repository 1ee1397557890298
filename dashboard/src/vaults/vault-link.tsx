/** A vault by its name, leading to it; by its address until the name is there. */
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { vaultPath } from '../links.ts';
import { vaultQuery } from './vault.ts';

export interface VaultLinkProps {
  address: string;
  /** Inside a sentence, where a colour alone would not tell it from the words around it. */
  inText?: boolean;
}

export function VaultLink({ address, inText = false }: VaultLinkProps) {
  const { data } = useQuery(vaultQuery(address));
  return (
    <Anchor
      component={Link}
      to={vaultPath(address)}
      size="sm"
      title={address}
      {...(inText && { underline: 'always', c: 'inherit' })}
    >
      {data?.name ?? `${address.slice(0, 8)}…${address.slice(-6)}`}
    </Anchor>
  );
}
