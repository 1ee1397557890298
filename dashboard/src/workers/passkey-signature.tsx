/** A passkey that was confirmed has to be signed by its worker: with their own key, or by a link with the passkey they have. */

import { Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { FormDialog } from '../frame/form.tsx';
import { LinkOnce } from '../frame/link-once.tsx';
import { showDone } from '../frame/notice.ts';
import { FailureState, LoadingRows } from '../frame/states.tsx';
import { TypedDataStep } from '../frame/typed-data-step.tsx';
import type { Worker } from './worker.ts';

export interface SignatureDialogProps {
  worker: Worker;
  /** Where the passkey is. */
  at: string;
  close(): void;
}

export function SignatureDialog(props: SignatureDialogProps) {
  return props.worker.keyHolder === 'passkey' ? <LinkDialog {...props} /> : <OwnKeyDialog {...props} />;
}

function LinkDialog({ worker, at, close }: SignatureDialogProps) {
  const making = useMutation({
    meta: { shown: true },
    mutationFn: () => call<Schemas['PasskeyRegistrationLink']>('POST', `${at}/link`),
  });
  if (making.data) {
    return (
      <LinkOnce
        title={`For ${worker.name} to sign`}
        label="The link to sign the new passkey"
        link={making.data.link}
        about={`For ${worker.name}: to scan with the device that has a passkey of theirs already, or to open on it. It is valid for seven days, and cannot be shown again.`}
        close={close}
      />
    );
  }
  return (
    <FormDialog
      opened
      close={close}
      title={`For ${worker.name} to sign`}
      submitLabel="Create link"
      saving={making}
    >
      <Text size="sm">
        {worker.name} opens a link on the device with a passkey that signs already, compares the code with
        that of the new device, and signs that both are theirs.
      </Text>
    </FormDialog>
  );
}

function OwnKeyDialog({ worker, at, close }: SignatureDialogProps) {
  const client = useQueryClient();
  const [signature, setSignature] = useState('');
  const { data, error, refetch } = useQuery({
    queryKey: ['workers', 'registration', at],
    queryFn: () => call<Schemas['PasskeyRegistrationRequest']>('GET', `${at}/sign`),
  });
  const saving = useMutation({
    meta: { shown: true },
    mutationFn: () => call('POST', `${at}/sign`, { body: { signature: signature.trim() } }),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['workers'] });
      showDone(`${worker.name} signs with this passkey now.`);
      close();
    },
  });
  return (
    <FormDialog
      opened
      close={close}
      title="Signature of the worker"
      submitLabel="Submit signature"
      saving={saving}
      size="lg"
    >
      <Text size="sm">
        {worker.name} holds their own key. Only that key can say that the passkey is theirs; from then on only
        passkeys sign.
      </Text>
      {error ? (
        <FailureState error={error} again={() => void refetch()} />
      ) : data ? (
        <TypedDataStep request={data} signature={signature} change={setSignature}>
          A statement about another passkey of this worker changes it.
        </TypedDataStep>
      ) : (
        <LoadingRows rows={2} />
      )}
    </FormDialog>
  );
}
