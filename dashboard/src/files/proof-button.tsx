/** A small button that saves a proof. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { apiUrl } from '../api/call.ts';
import { save } from '../frame/download.tsx';
import { Icon } from '../frame/icons.tsx';

export interface ProofButtonProps {
  path: string;
  fileName: string;
  label: string;
  disabled: boolean;
}

export function ProofButton({ path, fileName, label, disabled }: ProofButtonProps) {
  const saving = useMutation({ mutationFn: () => save(apiUrl(path), fileName) });
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={label}
        disabled={disabled}
        loading={saving.isPending}
        onClick={() => saving.mutate()}
      >
        <Icon name="download" size={16} />
      </ActionIcon>
    </Tooltip>
  );
}
