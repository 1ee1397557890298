/** Lets addresses see an asset, until a time or until revoked. */
import { Textarea } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { FormDialog } from '../frame/form.tsx';
import { MomentInput } from '../frame/moment-input.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { assetUrl } from './asset.ts';

export function ViewerForm({ assetId, close }: { assetId: string; close(): void }) {
  const [addresses, setAddresses] = useState('');
  const [until, setUntil] = useState('');
  const saving = useSaving({
    nouns: ['assets'],
    send(headers) {
      const viewers = addresses.split(/[\s,;]+/).filter((address) => address !== '');
      return call<unknown[]>('POST', assetUrl(assetId, 'viewers/'), {
        body: { viewers, until: until === '' ? null : until },
        headers,
      });
    },
    onDone(made) {
      showDone(made.length === 1 ? 'The viewer now has access.' : `${made.length} viewers now have access.`);
      close();
    },
  });
  return (
    <FormDialog opened close={close} title="Grant access" submitLabel="Grant" saving={saving}>
      <Textarea
        label="Addresses"
        description="One per line. Existing grants get the new end."
        required
        autosize
        minRows={2}
        maxRows={8}
        data-autofocus
        value={addresses}
        onChange={(event) => setAddresses(event.currentTarget.value)}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
      />
      <MomentInput
        label="Until"
        description="If empty, it is valid until revoked."
        value={until}
        change={setUntil}
      />
    </FormDialog>
  );
}
