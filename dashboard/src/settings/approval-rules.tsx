/** For which steps the workspace needs a second person. */
import { Alert, NumberInput, Stack, Switch, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { useMayManagePeople } from '../api/session.ts';
import { ruleTexts, waitsForApproval } from '../approvals/approval.ts';
import { FormFailure } from '../frame/form.tsx';
import { Icon } from '../frame/icons.tsx';
import { showDone } from '../frame/notice.ts';
import { FailureState, LoadingRows } from '../frame/states.tsx';

type Rules = Schemas['ApprovalRules'];

const rulesQuery = queryOptions({
  queryKey: ['approval-rules'],
  queryFn: () => call<Rules>('GET', '/platform/approval-rules'),
});

const names = ['eraseContent', 'transfer', 'wideKeys'] as const;

export function ApprovalRules() {
  const { data: rules, error, refetch } = useQuery(rulesQuery);
  if (error) return <FailureState error={error} again={() => void refetch()} />;
  return rules ? <Form key={JSON.stringify(rules)} rules={rules} /> : <LoadingRows rows={3} />;
}

function Form({ rules }: { rules: Rules }) {
  const client = useQueryClient();
  const mayChange = useMayManagePeople();
  const [hours, setHours] = useState<number | string>(rules.expiresAfterHours);
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: (change: Partial<Rules>) => call('PUT', '/platform/approval-rules', { body: change }),
    async onSuccess(answer) {
      if (!waitsForApproval(client, answer)) showDone('Saved.');
      await client.invalidateQueries({ queryKey: ['approval-rules'] });
    },
  });
  const alone = rules.deciders < 2;
  return (
    <Stack gap="md" maw={560}>
      <Text size="sm" c="dimmed">
        A second person has to approve these steps, also when an API key asks for them. Turning one off needs
        a second person, too.
      </Text>
      {alone && (
        <Alert color="yellow" icon={<Icon name="warning" />}>
          Only one person has the role admin or owner here, so nobody could approve. Give a second person that
          role first.
        </Alert>
      )}
      {names.map((name) => (
        <Switch
          key={name}
          label={ruleTexts[name]?.label}
          description={ruleTexts[name]?.about}
          checked={rules[name]}
          disabled={!mayChange || saving.isPending || (alone && !rules[name])}
          onChange={(event) => saving.mutate({ [name]: event.currentTarget.checked })}
        />
      ))}
      <NumberInput
        label="Hours to decide"
        description="After that a request expires, and nothing is done."
        min={1}
        max={720}
        allowDecimal={false}
        maw={220}
        disabled={!mayChange}
        value={hours}
        onChange={setHours}
        onBlur={() => {
          const wanted = Number(hours);
          if (wanted >= 1 && wanted <= 720 && wanted !== rules.expiresAfterHours)
            saving.mutate({ expiresAfterHours: wanted });
        }}
      />
      <FormFailure error={saving.error} />
    </Stack>
  );
}
