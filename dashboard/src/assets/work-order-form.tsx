/** Prints a work order: a sheet about an entry, with a code to sign for each worker who is asked to. */
import { Button, Group, Select, Text } from '@mantine/core';
import { useState } from 'react';
import { saveMade } from '../frame/download.tsx';
import { FormDialog } from '../frame/form.tsx';
import { Icon } from '../frame/icons.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import type { Asset } from './asset.ts';
import { entryUrl, type Maintenance, type SignoffRole, signoffRoles } from './maintenance.ts';
import { linksNoun } from './sign-links.tsx';
import { WorkerChoice } from './worker-choice.tsx';

export interface WorkOrderFormProps {
  asset: Asset;
  entry: Maintenance;
  close(): void;
}

interface Asked {
  key: number;
  role: SignoffRole;
  workerAddress: string | null;
}

const mostRequests = 20;

export function WorkOrderForm({ asset, entry, close }: WorkOrderFormProps) {
  const [asked, setAsked] = useState<Asked[]>(() => [
    { key: 0, role: entry.signoffs.length === 0 ? 'performed' : 'certified', workerAddress: null },
  ]);
  const change = (key: number, to: Partial<Asked>) =>
    setAsked(asked.map((one) => (one.key === key ? { ...one, ...to } : one)));
  const add = () => {
    const { key, role } = asked.at(-1) ?? { key: -1, role: 'performed' };
    const next = signoffRoles[signoffRoles.indexOf(role) + 1] ?? role;
    setAsked([...asked, { key: key + 1, role: next, workerAddress: null }]);
  };
  const saving = useSaving<void>({
    nouns: [linksNoun],
    send() {
      const requests = asked.map(({ role, workerAddress }) => {
        if (workerAddress === null) throw new Error('Choose the worker of each signature.');
        return { role, workerAddress };
      });
      return saveMade(
        entryUrl(asset.assetId, entry.maintenanceId, 'work-order/'),
        `work-order-${entry.maintenanceId}.pdf`,
        { body: { requests }, query: { viewerAddress: asset.vaultAddress } },
      );
    },
    onDone() {
      showDone('The work order is downloaded. Its codes are valid for seven days.');
      close();
    },
  });
  return (
    <FormDialog opened close={close} title="Work order" submitLabel="Download PDF" saving={saving} size="lg">
      <Text size="sm" c="dimmed" lineClamp={2}>
        {entry.summary}
      </Text>
      <Text size="sm">
        A sheet to print, with a code for everybody who is asked to sign with their passkey. The codes replace
        earlier links for the same worker and role.
      </Text>
      {asked.map(({ key, role, workerAddress }) => (
        <Group key={key} gap="xs" align="end" wrap="nowrap" grow preventGrowOverflow={false}>
          <Select
            label="Role"
            allowDeselect={false}
            data={[...signoffRoles]}
            value={role}
            onChange={(value) => change(key, { role: value as SignoffRole })}
            maw={140}
          />
          <WorkerChoice
            assetId={asset.assetId}
            value={workerAddress}
            choose={(address) => change(key, { workerAddress: address })}
          />
        </Group>
      ))}
      <Group gap="xs">
        <Button
          variant="default"
          size="compact-sm"
          onClick={add}
          disabled={asked.length >= mostRequests}
          leftSection={<Icon name="plus" size={14} />}
        >
          Another signature
        </Button>
        {asked.length > 1 && (
          <Button variant="default" size="compact-sm" onClick={() => setAsked(asked.slice(0, -1))}>
            Remove the last
          </Button>
        )}
      </Group>
    </FormDialog>
  );
}
