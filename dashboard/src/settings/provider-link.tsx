/** Links the account with the identity provider, which then decides about it. */
import { Alert, Button, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { callAuth } from '../api/call.ts';
import { useMe } from '../api/session.ts';
import { FormFailure } from '../frame/form.tsx';
import { problemText } from '../sign-in/problems.ts';
import { useProviderHost } from '../sign-in/sign-in-options.tsx';

const otherEmail =
  'The identity provider knows you by another email than this account has, so nothing was linked. Sign in there as the person of this account.';

export function ProviderLink() {
  const me = useMe();
  const host = useProviderHost();
  const { problem } = useSearch({ strict: false }) as { problem?: string };
  const linking = useMutation({
    meta: { shown: true },
    mutationFn: () => callAuth<{ url: string }>('provider/link'),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  if (host === null) return null;
  const isLinked = me.provedBy.includes('provider');
  return (
    <Stack gap="sm" align="flex-start">
      <Title order={2} size="h4">
        Single sign-on
      </Title>
      {problem !== undefined && (
        <Alert color="red" role="alert" py="xs">
          {problem === 'other_email' ? otherEmail : problemText(problem)}
        </Alert>
      )}
      {isLinked ? (
        <Text size="sm">You sign in with {host}, which decides whether you may, and in which role.</Text>
      ) : (
        <>
          <Text size="sm">
            Once your account is linked, you sign in with {host} alone. All your sessions end, and your
            password, codes and passkeys are removed, unless you own the first workspace.
          </Text>
          <FormFailure error={linking.error} />
          <Button variant="default" loading={linking.isPending} onClick={() => linking.mutate()}>
            Link with {host}
          </Button>
        </>
      )}
    </Stack>
  );
}
