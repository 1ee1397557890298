/** Whether the workspace accepts only sessions with a second factor; for owners. */
import { Stack, Switch } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { FormFailure } from '../frame/form.tsx';

const rulesQuery = queryOptions({
  queryKey: ['sign-in-rules'],
  queryFn: () => call<Schemas['SignInRules']>('GET', '/platform/sign-in-rules'),
});

export function SecondFactorRule() {
  const client = useQueryClient();
  const { data: rules } = useQuery(rulesQuery);
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: (requireSecondFactor: boolean) =>
      call('PUT', '/platform/sign-in-rules', { body: { requireSecondFactor } }),
    onSettled: () => client.invalidateQueries({ queryKey: ['sign-in-rules'] }),
  });
  if (!rules) return null;
  return (
    <Stack gap="xs">
      <Switch
        label="Require a second factor in this workspace"
        description="Members sign in with a passkey, a two-factor code or the identity provider. API keys are not affected."
        checked={rules.requireSecondFactor}
        disabled={saving.isPending}
        onChange={(event) => saving.mutate(event.currentTarget.checked)}
      />
      <FormFailure error={saving.error} />
    </Stack>
  );
}
