/** One maintenance entry in the timeline: what, who, when, who signed, and what corrects it. */
import { Anchor, Badge, Box, Button, Group, Paper, Text, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { DownloadButton } from '../frame/download.tsx';
import { Icon } from '../frame/icons.tsx';
import { Status, Time } from '../frame/values.tsx';
import type { Asset } from './asset.ts';
import { entryUrl, type Maintenance, type Signoff } from './maintenance.ts';
import type { MaintenanceStart } from './maintenance-form.tsx';
import { SignoffForm } from './signoff-form.tsx';
import { WorkOrderForm } from './work-order-form.tsx';

export interface MaintenanceCardProps {
  asset: Asset;
  entry: Maintenance;
  open(maintenanceId: string): void;
  start: ((start: MaintenanceStart) => void) | undefined;
}

export function MaintenanceCard({ asset, entry, open, start }: MaintenanceCardProps) {
  const corrected = entry.supersededBy !== null;
  return (
    <Paper withBorder p="sm" component="article" aria-label={entry.summary}>
      <Group justify="space-between" gap="xs" wrap="nowrap" mb={4}>
        <Group gap={6} miw={0}>
          <Badge variant="light" color="gray" radius="sm" tt="none">
            {entry.type}
          </Badge>
          {corrected && (
            <Badge variant="light" color="yellow" radius="sm" tt="none">
              corrected
            </Badge>
          )}
          <ReleaseBadge release={entry.release} />
        </Group>
        <Status value={entry.status} />
      </Group>
      <button type="button" className="plain-button" onClick={() => open(entry.maintenanceId)}>
        <Text
          fw={550}
          lineClamp={3}
          style={{ overflowWrap: 'anywhere' }}
          {...(corrected && { c: 'dimmed', td: 'line-through' })}
        >
          {entry.summary}
        </Text>
      </button>
      <Text size="sm" c="dimmed" component="div" mt={2}>
        Done <Time at={entry.performedAt} exact /> by {entry.workerName}, recorded{' '}
        <Time at={entry.recordedAt} />
      </Text>
      <CorrectionLinks entry={entry} open={open} />
      <Group justify="space-between" gap="xs" mt="xs">
        <Signoffs signoffs={entry.signoffs} />
        <Box ml="auto">
          <EntryActions asset={asset} entry={entry} open={open} start={start} />
        </Box>
      </Group>
    </Paper>
  );
}

export function ReleaseBadge({ release }: Pick<Maintenance, 'release'>) {
  if (release === 'none') return null;
  return (
    <Badge variant="light" color={release === 'released' ? 'sea' : 'red'} radius="sm" tt="none">
      {release === 'released' ? 'released' : 'release withdrawn'}
    </Badge>
  );
}

export function CorrectionLinks({ entry, open }: Pick<MaintenanceCardProps, 'entry' | 'open'>) {
  const { supersedes, supersededBy } = entry;
  return (
    <>
      {supersedes !== null && (
        <Text size="sm" mt={4}>
          Corrects{' '}
          <Anchor component="button" type="button" size="sm" onClick={() => open(supersedes)}>
            the entry {short(supersedes)}
          </Anchor>
        </Text>
      )}
      {supersededBy !== null && (
        <Text size="sm" mt={4}>
          Corrected by{' '}
          <Anchor component="button" type="button" size="sm" onClick={() => open(supersededBy)}>
            the entry {short(supersededBy)}
          </Anchor>
        </Text>
      )}
    </>
  );
}

const short = (id: string) => `…${id.slice(-6)}`;

function Signoffs({ signoffs }: { signoffs: Signoff[] }) {
  if (signoffs.length === 0)
    return (
      <Text size="sm" c="dimmed">
        Not signed off
      </Text>
    );
  return (
    <Group gap={6}>
      {signoffs.map(({ number, role, workerName, licence, signedAt }) => (
        <Tooltip
          key={number}
          label={`${signedAt.replace('T', ' ').slice(0, 19)} UTC${licence ? `, licence ${licence.number}` : ''}`}
        >
          <Badge
            variant="light"
            color="sea"
            radius="sm"
            tt="none"
            leftSection={<Icon name="done" size={12} />}
          >
            {role}: {workerName}
          </Badge>
        </Tooltip>
      ))}
    </Group>
  );
}

/** The actions on an entry; a superseded entry allows no more changes. */
export function EntryActions({
  asset,
  entry,
  open,
  start,
}: Omit<MaintenanceCardProps, 'open'> & { open?: MaintenanceCardProps['open'] }) {
  const [signing, sign] = useDisclosure();
  const [printing, print] = useDisclosure();
  const isOpen = !entry.signoffs.some(({ role }) => role === 'certified');
  const mayAct = start !== undefined && entry.supersededBy === null;
  return (
    <Group gap={6}>
      {open && (
        <Button size="compact-sm" variant="default" onClick={() => open(entry.maintenanceId)}>
          Details
        </Button>
      )}
      {mayAct && (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => start({ supersedes: entry.maintenanceId })}
        >
          Correct
        </Button>
      )}
      <DownloadButton
        label="Proof"
        path={entryUrl(asset.assetId, entry.maintenanceId, 'proof/')}
        query={{ viewerAddress: asset.vaultAddress }}
        fileName={`proof-${entry.maintenanceId}.json`}
        disabled={entry.anchor === null}
        size="compact-sm"
      />
      {entry.signoffs.some(({ role }) => role === 'certified') && (
        <DownloadButton
          label="Release certificate"
          path={entryUrl(asset.assetId, entry.maintenanceId, 'release-certificate/')}
          query={{ viewerAddress: asset.vaultAddress }}
          fileName={`release-certificate-${entry.maintenanceId}.pdf`}
          size="compact-sm"
        />
      )}
      {mayAct && (
        <Button size="compact-sm" variant="light" onClick={sign.open}>
          Sign off
        </Button>
      )}
      {mayAct && isOpen && (
        <Button size="compact-sm" variant="default" onClick={print.open}>
          Work order
        </Button>
      )}
      {printing && <WorkOrderForm asset={asset} entry={entry} close={print.close} />}
      {signing && <SignoffForm asset={asset} entry={entry} close={sign.close} />}
    </Group>
  );
}
