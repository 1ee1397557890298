/** An import, or a dry run, that is under way or has ended: how far it is, what is wrong, and the report. */
import { Alert, Button, Group, Paper, Progress, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { durationText } from '../../../src/bulk/pace.ts';
import { countsText, type ReportFormat } from '../../../src/bulk/report.ts';
import { offer } from '../frame/download.tsx';
import { Icon } from '../frame/icons.tsx';
import { formatBytes } from '../frame/values.tsx';
import { VaultLink } from '../vaults/vault-link.tsx';
import { FaultTable } from './fault-table.tsx';
import { isAnyIn, type RunState, startImport, stopImport } from './run.ts';

export interface RunPanelProps {
  run: RunState;
  /** After the end of an import: another one, or the same form if nothing went in. */
  next(): void;
}

export function RunPanel({ run, next }: RunPanelProps) {
  const { job, phase, stopping, trouble } = run;
  const ended = phase === 'ended';
  const panel = useRef<HTMLElement>(null);
  // It comes below what was chosen.
  useEffect(() => {
    panel.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const done = ended ? (run.stopped === null ? 100 : shareOf(run)) : shareOf(run);
  return (
    <Paper ref={panel} withBorder p="md" component="section" aria-labelledby="import-run">
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <div style={{ minWidth: 0 }}>
            <Title order={2} size="h4" id="import-run" className="breaks">
              {headingOf(run)}
            </Title>
            {!job.dryRun && (
              <Text size="sm" c="dimmed" className="breaks">
                into <VaultLink address={job.vaultAddress} />
              </Text>
            )}
          </div>
          {!ended && (
            <Button variant="default" onClick={stopImport} loading={stopping} style={{ flex: 'none' }}>
              Stop
            </Button>
          )}
        </Group>
        <Progress value={done} aria-label={job.dryRun ? 'Checked' : 'Imported'} />
        {!ended && <Text size="sm">{progressText(run)}</Text>}
        <VisuallyHidden role="status">{spokenText(run)}</VisuallyHidden>
        {trouble !== null && !ended && (
          <Alert color="yellow" icon={<Icon name="warning" />} role="alert" py="xs">
            <span className="breaks">{trouble} It goes on by itself as soon as the service answers.</span>
          </Alert>
        )}
        {ended && <Ending run={run} next={next} />}
        <FaultTable run={run} />
      </Stack>
    </Paper>
  );
}

const shareOf = ({ bytes, job }: RunState) => (100 * bytes) / Math.max(1, job.totalBytes);

function headingOf(run: RunState): string {
  const { job, phase, stopped, wasBefore } = run;
  const { name, dryRun } = job;
  if (phase === 'ended' && stopped === null && dryRun) return `${name} was checked`;
  if (phase === 'ended' && (stopped === null || wasBefore))
    return isAnyIn(run) ? `${name} was imported` : `${name} was not imported`;
  if (phase === 'ended') return dryRun ? `${name} was not checked to its end` : `${name} is not finished`;
  if (phase === 'reading') return `Reading ${name}`;
  return dryRun ? `Checking ${name}` : `Importing ${name}`;
}

function progressText({ job, phase, rows, bytes, counts, perSecond, secondsLeft }: RunState): string {
  const size = `${formatBytes(bytes)} of ${formatBytes(job.totalBytes)}`;
  if (phase === 'reading') return `Its digest is computed in this browser: ${size}`;
  return [
    `${rows.toLocaleString('en')} ${job.noun}`,
    ...(counts.refused > 0 ? [`${counts.refused.toLocaleString('en')} refused`] : []),
    size,
    ...(perSecond === null ? [] : [`${Math.round(perSecond).toLocaleString('en')} per second`]),
    ...(secondsLeft === null ? [] : [`${durationText(secondsLeft)} left`]),
  ].join(' · ');
}

/** Seldom enough to be listened to. The end is an alert. */
function spokenText(run: RunState): string {
  if (run.phase === 'ended') return '';
  return `${headingOf(run)}, ${Math.floor(shareOf(run) / 10) * 10} % done`;
}

function endingText({ counts, rows, job: { noun, dryRun }, stopped }: RunState): string {
  if (rows === 0) return stopped ?? 'There is nothing in it to import.';
  const counted = countsText({ counts, noun, dryRun });
  if (dryRun) return `${counted} Nothing was sent.${stopped === null ? '' : ` ${stopped}`}`;
  return stopped === null ? counted : `${counted} ${stopped}`;
}

function Ending({ run, next }: RunPanelProps) {
  const { job, counts, stopped, wasBefore } = run;
  const bad = counts.refused + counts.unknown > 0 || run.rows === 0;
  return (
    <>
      <Alert
        color={stopped === null && !bad ? 'green' : 'yellow'}
        icon={<Icon name={stopped === null && !bad ? 'done' : 'warning'} />}
        py="xs"
      >
        <Text size="sm" className="breaks">
          {endingText(run)}
        </Text>
        {stopped !== null && !job.dryRun && isAnyIn(run) && (
          <Text size="sm" mt={4}>
            Nothing of it is made twice: it goes on where it was when you continue, or choose the same{' '}
            {job.noun === 'files' ? 'files' : 'file'} with the same options again, also after this page was
            closed.
          </Text>
        )}
        {stopped === null && !job.dryRun && job.noun === 'records' && counts.refused > 0 && (
          <Text size="sm" mt={4}>
            {isAnyIn(run)
              ? 'Correct the refused rows in a file of their own, and import that. The others are in.'
              : 'Nothing of it is in. Correct the rows, or change how they are read, and import the file again.'}
          </Text>
        )}
        {counts.unknown > 0 && (
          <Text size="sm" mt={4}>
            Look for one of the unknown {job.noun} in the vault. If it is not there, send them again.
          </Text>
        )}
      </Alert>
      <Group gap="xs">
        {!job.dryRun && stopped !== null && !wasBefore && (
          <Button onClick={() => void startImport({ ...job, resendUnknown: false })}>Continue</Button>
        )}
        {wasBefore && (
          <Button color="red" onClick={() => void startImport({ ...job, again: true })}>
            Import all of it anyway
          </Button>
        )}
        {!job.dryRun && counts.unknown > 0 && (
          <Button variant="default" onClick={() => void startImport({ ...job, resendUnknown: true })}>
            Send the unknown ones again
          </Button>
        )}
        {!job.dryRun && (
          <Button variant={stopped === null ? 'filled' : 'default'} onClick={next}>
            {isAnyIn(run) ? 'Import something else' : 'Back to the form'}
          </Button>
        )}
        {!job.dryRun && (
          <Button variant="default" component={Link} to={`/${job.noun}`}>
            Show {job.noun}
          </Button>
        )}
        {run.rows > 0 &&
          (['csv', 'jsonl'] as const).map((format) => (
            <ReportButton key={format} run={run} format={format} />
          ))}
      </Group>
    </>
  );
}

function ReportButton({ run, format }: { run: RunState; format: ReportFormat }) {
  const saving = useMutation({
    mutationFn: async () => {
      const name = `${run.job.name.replace(/\.\w+$/, '')}-report.${format}`;
      offer(await run.report.as(format), name);
    },
  });
  return (
    <Button
      variant="default"
      loading={saving.isPending}
      onClick={() => saving.mutate()}
      leftSection={<Icon name="download" size={16} />}
    >
      Report as {format === 'csv' ? 'CSV' : 'JSON Lines'}
    </Button>
  );
}
