/** The frame of a form in a dialog: fields, the error, and two buttons. */
import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { useConfirmationNeeded } from '../api/confirmation.ts';
import { useSessionEnded } from '../api/session-end.ts';
import { Icon } from './icons.tsx';

export interface FormDialogProps {
  title: string;
  opened: boolean;
  close(): void;
  submitLabel: string;
  /** Runs when the form is submitted; its error is shown above the buttons. Set `meta: { shown: true }`. */
  saving: Pick<UseMutationResult<unknown, Error, void>, 'mutate' | 'isPending' | 'error'>;
  danger?: boolean;
  /** `lg` for large forms. */
  size?: 'md' | 'lg';
  children: ReactNode;
}

export function FormDialog({
  title,
  opened,
  close,
  submitLabel,
  saving,
  danger,
  size = 'md',
  children,
}: FormDialogProps) {
  const ended = useSessionEnded();
  const confirming = useConfirmationNeeded();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={title}
      size={size}
      centered
      // Escape in the dialog above must not discard the draft.
      closeOnEscape={!ended && !confirming}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          {children}
          <FormFailure error={saving.error} />
          <Group justify="flex-end" gap="xs" mt="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={saving.isPending} {...(danger && { color: 'red' })}>
              {submitLabel}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

export function FormFailure({ error }: { error: Error | null }) {
  if (!error) return null;
  return (
    <Alert color="red" icon={<Icon name="warning" />} role="alert" py="xs">
      <span className="breaks">{error.message}</span>
    </Alert>
  );
}
