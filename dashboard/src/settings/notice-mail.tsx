/** Whether one gets mail about notices of the workspace. */
import { Stack, Switch, Text, Title } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { useMayManagePeople } from '../api/session.ts';
import { FormFailure } from '../frame/form.tsx';

type NoticeMailChoice = Schemas['NoticeMail'];

const path = '/platform/notices/mail';

const choiceQuery = queryOptions({
  queryKey: ['notice-mail'],
  queryFn: () => call<NoticeMailChoice>('GET', path),
});

/** Only owners and admins get such mail. */
export function NoticeMail() {
  const isRecipient = useMayManagePeople();
  const client = useQueryClient();
  const { data: choice } = useQuery({ ...choiceQuery, enabled: isRecipient });
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: (wanted: boolean) => call<NoticeMailChoice>('PUT', path, { body: { wanted } }),
    onSuccess: (saved) => client.setQueryData(choiceQuery.queryKey, saved),
  });
  if (!isRecipient || !choice) return null;
  return (
    <Stack gap="sm" align="flex-start">
      <Title order={2} size="h4">
        Mail
      </Title>
      <Switch
        label="Mail me what needs attention in this workspace"
        checked={choice.wanted}
        disabled={saving.isPending}
        onChange={(event) => saving.mutate(event.currentTarget.checked)}
      />
      {!choice.configured && (
        <Text size="sm" c="dimmed">
          The operator of this service has not set up mail, so none is sent.
        </Text>
      )}
      <FormFailure error={saving.error} />
    </Stack>
  );
}
