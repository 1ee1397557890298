/** In whose name the workspace releases work, for release certificates; owners change it. */
import { Alert, Button, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { useMe } from '../api/session.ts';
import { FormFailure } from '../frame/form.tsx';
import { Icon } from '../frame/icons.tsx';
import { showDone } from '../frame/notice.ts';
import { FailureState, LoadingRows } from '../frame/states.tsx';

type Organisation = Schemas['Organisation'];

const url = '/damc/signoffs/organisation/';
const organisationQuery = queryOptions({
  queryKey: ['organisation'],
  queryFn: () => call<Organisation>('GET', url),
});

export function OrganisationForm() {
  const { data, error, refetch } = useQuery(organisationQuery);
  if (data) return <Form key={JSON.stringify(data)} saved={data} />;
  return error ? <FailureState error={error} again={() => void refetch()} /> : <LoadingRows />;
}

function Form({ saved }: { saved: Organisation }) {
  const me = useMe();
  const client = useQueryClient();
  const [stated, setStated] = useState(saved);
  const isOwner = me.role === 'owner';
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: () => call<Organisation>('PUT', url, { body: stated }),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['organisation'] });
      showDone('The organisation was saved. It counts for what is certified from now on.');
    },
  });
  const field = (name: keyof Organisation, maxLength: number) => ({
    maxLength,
    readOnly: !isOwner,
    value: stated[name],
    onChange: (event: { currentTarget: { value: string } }) => {
      const { value } = event.currentTarget;
      setStated((before) => ({ ...before, [name]: value }));
    },
  });
  const lacks = Object.values(stated).some((text) => text.trim() === '');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate();
      }}
    >
      <Stack gap="sm" maw={460}>
        <Title order={2} size="h4">
          Organisation
        </Title>
        <Text size="sm" c="dimmed">
          In whose name work is released. Each release certificate shows it as it is when the work is
          certified; later changes do not alter certificates that exist. Nobody checks the approval here.
        </Text>
        <TextInput label="Name" {...field('name', 200)} />
        <Textarea label="Address" autosize minRows={2} maxRows={5} {...field('address', 500)} />
        <TextInput
          label="Approving authority and country"
          placeholder="EASA / Denmark"
          {...field('authority', 200)}
        />
        <TextInput label="Approval number" placeholder="DK.145.0042" {...field('approvalNumber', 100)} />
        <TextInput
          label="Regulation"
          description="What the approval is under, such as Part-145 or Part-CAO."
          {...field('regulation', 100)}
        />
        {lacks && (
          <Alert color="yellow" icon={<Icon name="warning" />} py="xs">
            While one of these is empty, release certificates say that they are neither an EASA Form 1 nor a
            certificate of release to service.
          </Alert>
        )}
        <FormFailure error={saving.error} />
        {isOwner ? (
          <Button
            type="submit"
            variant="default"
            loading={saving.isPending}
            style={{ alignSelf: 'flex-start' }}
          >
            Save organisation
          </Button>
        ) : (
          <Text size="sm" c="dimmed">
            Only owners change it.
          </Text>
        )}
      </Stack>
    </form>
  );
}
