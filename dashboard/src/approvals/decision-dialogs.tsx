/** Approves, refuses or withdraws what somebody asked for, and shows an approved API key once. */
import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { FormDialog, FormFailure } from '../frame/form.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { SecretOnce } from '../frame/secret.tsx';
import { type Approval, approvalsPath, effectOf, titleOf } from './approval.ts';

export type Decision = 'approve' | 'refuse' | 'withdraw';

const words: Record<Decision, { title: string; label: string; about: string; done: string }> = {
  approve: {
    title: 'Approve',
    label: 'Approve',
    about: 'It is done at once, in the name of who asked for it.',
    done: 'It was approved and is done.',
  },
  refuse: {
    title: 'Refuse',
    label: 'Refuse',
    about: 'Nothing is done. Who asked sees your reason.',
    done: 'It was refused.',
  },
  withdraw: {
    title: 'Withdraw',
    label: 'Withdraw',
    about: 'Nothing is done. You can ask again.',
    done: 'It was withdrawn.',
  },
};

export interface DecisionDialogProps {
  approval: Approval;
  decision: Decision;
  who: string;
  close(): void;
}

/** What an approved step may have changed. */
const affected = ['approvals', 'approval-rules', 'files', 'records', 'vaults', 'assets', 'keys'];

export function DecisionDialog({ approval, decision, who, close }: DecisionDialogProps) {
  const [reason, setReason] = useState('');
  const { title, label, about, done } = words[decision];
  const saving = useSaving({
    nouns: affected,
    send: (headers) =>
      call<Approval>('POST', `${approvalsPath}/${approval.id}/${decision}`, {
        body: { ...(reason.trim() !== '' && { reason }) },
        headers,
      }),
    onDone() {
      showDone(done);
      close();
    },
  });
  return (
    <FormDialog
      opened
      close={close}
      title={title}
      submitLabel={label}
      saving={saving}
      danger={decision === 'approve' && /erase|retention|rules/.test(approval.step)}
    >
      <Text size="sm" className="breaks">
        <b>{titleOf(approval)}</b>: {effectOf(approval)}. Asked for by {who}.
      </Text>
      <Text size="sm" c="dimmed">
        {about}
      </Text>
      {decision !== 'withdraw' && (
        <Textarea
          label="Reason"
          description={decision === 'approve' ? 'If you like' : undefined}
          required={decision === 'refuse'}
          maxLength={500}
          autosize
          minRows={2}
          data-autofocus
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      )}
    </FormDialog>
  );
}

export function CollectDialog({ approval, close }: { approval: Approval; close(): void }) {
  const client = useQueryClient();
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const collecting = useMutation({
    meta: { shown: true },
    mutationFn: () =>
      call<Schemas['CollectedApiKey']>('POST', `${approvalsPath}/${approval.id}/collect`, {
        headers: { 'idempotency-key': idempotencyKey },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['approvals'] }),
  });
  return (
    <Modal
      opened
      onClose={close}
      title={collecting.data?.name ?? 'Collect the API key'}
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="sm">
        {collecting.data ? (
          <SecretOnce
            label="Your new API key"
            value={collecting.data.key}
            about="Copy it now: it cannot be shown again. Send it in the x-api-key header."
          />
        ) : (
          <Text size="sm">The key was approved. It is shown once, and only to you.</Text>
        )}
        <FormFailure error={collecting.error} />
        <Group justify="flex-end">
          {collecting.data ? (
            <Button onClick={close}>Done</Button>
          ) : (
            <Button onClick={() => collecting.mutate()} loading={collecting.isPending}>
              Show the key
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
