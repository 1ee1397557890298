/** Validates a dropped file: hashed here, compared by the service, with a live result. */
import { Group, Progress, Select, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { call } from '../api/call.ts';
import { FormFailure } from '../frame/form.tsx';
import { DropArea } from './drop-area.tsx';
import { type FileValidation, type FileVersion, filesPath, validationQuery } from './file.ts';
import { hashFile } from './file-hash.ts';
import { ValidationResult } from './validation-result.tsx';

export function ValidatePanel({ file }: { file: FileVersion }) {
  const client = useQueryClient();
  const [chosen, setChosen] = useState<string | null>(null);
  const [progress, setProgress] = useState(0);
  const [presented, setPresented] = useState<string | null>(null);
  const running = useRef<AbortController | null>(null);
  const asking = useMutation({
    meta: { shown: true },
    async mutationFn(given: File) {
      running.current?.abort();
      running.current = new AbortController();
      setPresented(given.name);
      setProgress(0);
      const contentHash = await hashFile(given, { signal: running.current.signal, tell: setProgress });
      return call<FileValidation>('POST', `${filesPath}/${file.id}/validate`, {
        body: { contentHash, ...(chosen !== null && { version: Number(chosen) }) },
        headers: { 'idempotency-key': crypto.randomUUID() },
      });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ['files'] }),
  });
  return (
    <Stack gap="sm">
      <Group gap="sm" align="stretch">
        <div style={{ flex: '1 1 320px', minWidth: 0 }}>
          <DropArea
            icon="verify"
            label="Drop the file to check, or choose it"
            about="It is hashed in this browser: its bytes stay here, only the hash is sent."
            disabled={asking.isPending}
            take={([given]) => given && asking.mutate(given)}
          />
        </div>
        {file.version > 1 && (
          <Select
            label="Against"
            w={{ base: '100%', xs: 180 }}
            data={Array.from({ length: Math.min(file.version, 1000) }, (_, index) => {
              const version = file.version - index;
              return { value: String(version), label: `Version ${version}${index === 0 ? ', newest' : ''}` };
            })}
            value={chosen ?? String(file.version)}
            onChange={setChosen}
            allowDeselect={false}
          />
        )}
      </Group>
      {asking.isPending && (
        <div role="status">
          <Text size="xs" c="dimmed" mb={4}>
            Hashing {presented} in this browser, {Math.floor(progress * 100)} %
          </Text>
          <Progress size="sm" value={progress * 100} aria-label={`Progress of ${presented}`} />
        </div>
      )}
      <FormFailure error={asking.error} />
      {asking.data && !asking.isPending && <LiveResult file={file} asked={asking.data} />}
    </Stack>
  );
}

function LiveResult({ file, asked }: { file: FileVersion; asked: FileValidation }) {
  const { data = asked } = useQuery(validationQuery(file.id, asked.id));
  return <ValidationResult validation={data} file={file} />;
}
