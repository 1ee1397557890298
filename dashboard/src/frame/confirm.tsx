/** Asks for confirmation before something that cannot be undone. */
import { Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FormDialog } from './form.tsx';

export interface ConfirmProps {
  title: string;
  /** What will happen, in one sentence. */
  children: ReactNode;
  label: string;
  close(): void;
  act(): Promise<unknown>;
}

export function Confirm({ title, children, label, close, act }: ConfirmProps) {
  const acting = useMutation({ meta: { shown: true }, mutationFn: act, onSuccess: close });
  return (
    <FormDialog opened close={close} title={title} submitLabel={label} saving={acting} danger>
      <Text size="sm" component="div" className="breaks">
        {children}
      </Text>
    </FormDialog>
  );
}
