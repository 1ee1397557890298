/** Ways to sign in besides the password: the identity provider of the organisation. */
import { Button } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';

interface Options {
  provider: { host: string } | null;
}

const optionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: async (): Promise<Options> => {
    const response = await fetch('/auth/options');
    return response.ok ? await response.json() : { provider: null };
  },
  staleTime: Number.POSITIVE_INFINITY,
});

export function useProviderHost(): string | null {
  return useQuery(optionsQuery).data?.provider?.host ?? null;
}

/** `to`: the page to go to afterwards. */
export function ProviderButton({ to }: { to: string | undefined }) {
  const host = useProviderHost();
  if (host === null) return null;
  const query = to === undefined ? '' : `?${new URLSearchParams({ to })}`;
  return (
    <Button component="a" href={`/auth/provider/start${query}`} variant="default" fullWidth>
      Sign in with {host}
    </Button>
  );
}
